/** Definitions of the settings of listeners and origins. See `definitions`. */
import { Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { between } from "./between.ts"
import { listOf } from "./listOf.ts"

const Network = Schema.String.check(Schema.makeFilter((text) => Result.isSuccess(IpNetwork.fromString(text))))
const Origin = Schema.String.check(
  Schema.makeFilter((text) => text === "*" || (URL.canParse(text) && new URL(text).origin === text))
)

/** Headers that Node does not return as they were sent if there are several, and those that have another meaning here. */
const reservedHeaders =
  /^(?:age|authorization|connection|content-.*|cookie|date|etag|expires|from|host|if-.*|last-modified|location|max-forwards|origin|proxy-authorization|referer|retry-after|sec-.*|server|set-cookie|te|transfer-encoding|upgrade|user-agent|via|x-forwarded-(?:for|host|port|proto)|x-request-id)$/i
const HeaderName = Schema.String.check(
  Schema.makeFilter((text) => /^[A-Za-z0-9-]{1,64}$/.test(text) && !reservedHeaders.test(text))
)

/** The first settings of `definitions`. */
export const addressDefinitions = {
  host: {
    schema: Schema.NonEmptyString,
    default: "127.0.0.1",
    expected: "an address to listen on",
    about: "Address to listen on. The default accepts connections of this machine only, 0.0.0.0 those of the network."
  },
  port: {
    schema: between(0, 65_535),
    default: "4747",
    expected: "a port from 0 to 65535",
    about: "Port to listen on; 0 selects a free one and prints it."
  },
  admin_host: {
    schema: Schema.NonEmptyString,
    default: undefined,
    expected: "an address to listen on",
    about: "Address of the listener for operators. If unset, 127.0.0.1, or that of `host` (see `admin_port`)."
  },
  admin_port: {
    schema: Schema.Union([Schema.Literal("off"), between(0, 65_535)]),
    default: undefined,
    expected: "a port from 0 to 65535, or off",
    about:
      "Port of the listener for operators: /readyz, /metrics and the operator API; off: none. If unset, that of `port` if `host` is a loopback address, else 4748; 4749 in a worker."
  },
  processes: {
    schema: between(1, 64),
    default: "1",
    expected: "a number of processes from 1 to 64",
    about: "Processes of a server, which accept connections on the same port. More than one needs Postgres."
  },
  base_url: {
    schema: Schema.String.check(Schema.isPattern(/^https?:\/\/[^/?#]+$/)),
    default: undefined,
    expected: "an origin such as https://media.example.com, without a path",
    about: "Origin of the URLs in responses and webhooks. If unset, the origin of the request."
  },
  callback_url: {
    schema: Schema.String.check(Schema.isPattern(/^https?:\/\/[^/?#]+$/)),
    default: undefined,
    expected: "an origin such as https://callbacks.example.com, without a path",
    about:
      "Origin that upstreams call when a job may have ended. If unset, base_url if it is HTTPS on a public host; otherwise upstreams are polled only."
  },
  trusted_proxies: {
    schema: listOf(Network),
    default: undefined,
    expected: "networks such as 10.0.0.0/8, separated by commas",
    about:
      "Networks of the proxies in front, separated by commas. Only their X-Forwarded-For, -Host and -Proto headers are trusted.",
    isList: true
  },
  proxy_user_header: {
    schema: HeaderName,
    default: undefined,
    expected: "the name of a header such as X-Forwarded-Email, which is not one of HTTP itself",
    about:
      "Header in which a trusted proxy sends the e-mail address of the person whom it has authenticated, for sign-ins to the console. Needs trusted_proxies."
  },
  cors_origins: {
    schema: listOf(Origin),
    default: undefined,
    expected: "origins such as https://app.example.com, separated by commas, or *",
    about: "Origins whose scripts can call /v1 from a browser, separated by commas, or * for every origin.",
    isList: true
  }
} as const
