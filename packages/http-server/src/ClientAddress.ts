/** Which failed authentications count together (D28). */
import { Option, Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * What stands for a client's address in the limit of failed authentications: an
 * IPv4 address as it is, mapped or not, and the /64 of an IPv6 address, since a
 * client has at least that many to choose from. `unknown` when there is no socket.
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

/** A link-local address names its interface: `fe80::1%eth0`. */
const withoutZone = (text: string) => text.split("%", 1)[0] ?? text
