/** Groups client addresses for the limit of failed authentications. */
import { Option, Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * Returns the group of an address: an IPv4 address itself, mapped or not, and the /64
 * of an IPv6 address, because a client has at least that many addresses. Returns
 * `unknown` without a socket.
 */
export const group = (remoteAddress: Option.Option<string>): string => {
  if (Option.isNone(remoteAddress)) return "unknown"
  const parsed = NetAddress.ipFromString(withoutZone(remoteAddress.value))
  if (Result.isFailure(parsed)) return "unknown"
  const address = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  const [a, b, c, d] = NetAddress.ipv6ToSegments(address)
  return `${[a, b, c, d].map((segment) => segment.toString(16)).join(":")}::/64`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Removes the interface of a link-local address: `fe80::1%eth0`. */
const withoutZone = (text: string) => text.split("%", 1)[0] ?? text
