/** Groups client addresses, so that a client counts as one whichever of its addresses it uses. */
import { Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * Returns the group of an address: an IPv4 address itself, mapped or not, and the /64 of an IPv6 address, because a client
 * has at least that many addresses. Returns `unknown` without an address, such as that of a closed socket.
 */
export const group = (address: string | undefined): string => networkOf(address, () => 4)

/**
 * Like `group`, with the /48 of an IPv6 address: one site is commonly assigned that many, so that a client can have 65,536
 * groups. Private addresses (`fc00::/7`) keep the /64, since a /48 of them is a whole network of an operator. For resources
 * that one client must not use up, such as connections. The clients of a provider that assigns less share the /48, so its
 * limit has to be a large share of the total.
 */
export const site = (address: string | undefined): string =>
  networkOf(address, (first) => first >> 9 === 0xfc >> 1 ? 4 : 3)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns an IPv4 address, or the first segments of an IPv6 address, whose number depends on the first of these 16 bits. */
const networkOf = (address: string | undefined, segmentsOf: (first: number) => number): string => {
  if (address === undefined) return "unknown"
  const parsed = NetAddress.ipFromString(withoutZone(address))
  if (Result.isFailure(parsed)) return "unknown"
  const canonical = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(canonical)) return NetAddress.formatIp(canonical)
  const all = NetAddress.ipv6ToSegments(canonical)
  const segments = segmentsOf(all[0])
  return `${all.slice(0, segments).map((segment) => segment.toString(16)).join(":")}::/${segments * 16}`
}

/** Removes the interface of a link-local address: `fe80::1%eth0`. */
const withoutZone = (text: string) => text.split("%", 1)[0] ?? text
