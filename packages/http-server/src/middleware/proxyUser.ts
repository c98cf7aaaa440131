/** The person whom the proxy in front has authenticated. See docs/reference/console-api.md#trusted-proxy. */
import { Account } from "@kinora/accounts"
import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"

type Options = Pick<HttpServerOptions, "proxyUserHeader" | "trustedProxies">

/** The issuer of people whom the proxy authenticates. Their subject is the e-mail address. */
const issuer = "proxy"

/** Returns the person of a request: of one that a trusted proxy has sent, with an e-mail address in the header. */
export const personOf = (state: RequestState, options: Options) => {
  const email = emailOf(state, options)
  return email === undefined
    ? undefined
    : { issuer, subject: email.toLowerCase(), email, isEmailVerified: true, groups: [] }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailOf = (
  { request }: RequestState,
  { proxyUserHeader: header, trustedProxies }: Options
): string | undefined => {
  if (header === undefined) return undefined
  // This is the address of the connection, not the one of `X-Forwarded-For`.
  const peer = Option.flatMap(request.peerAddress, (text) => Result.getSuccess(NetAddress.ipFromString(text)))
  if (Option.isNone(peer)) return undefined
  const address = NetAddress.toCanonical(peer.value)
  if (!trustedProxies.some((network) => IpNetwork.contains(network, address))) return undefined
  const value = request.headers[header]
  // A header that was sent twice arrives as a list: of the client and of the proxy, in any order.
  return value !== undefined && !value.includes(",") && Account.isEmail(value) ? value : undefined
}
