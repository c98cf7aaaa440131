/** Groups client addresses, so that a client counts as one whichever of its addresses it uses. */
import { Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * Returns the group of an address: an IPv4 address itself, mapped or not, and the /64 of an IPv6 address, because a client
 * has at least that many addresses. Returns `unknown` without an address, such as that of a closed socket.
 */
export const group = (address: string | undefined): string => {
  if (address === undefined) return "unknown"
  const parsed = NetAddress.ipFromString(withoutZone(address))
  if (Result.isFailure(parsed)) return "unknown"
  const canonical = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(canonical)) return NetAddress.formatIp(canonical)
  const [a, b, c, d] = NetAddress.ipv6ToSegments(canonical)
  return `${[a, b, c, d].map((segment) => segment.toString(16)).join(":")}::/64`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Removes the interface of a link-local address: `fe80::1%eth0`. */
const withoutZone = (text: string) => text.split("%", 1)[0] ?? text
