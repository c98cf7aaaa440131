/**
 * Classification of IP addresses. An address is public if it is global unicast and does not
 * embed another address.
 *
 * The ranges are those of `ipaddr.js`, which follows IANA's registries of special-purpose
 * addresses. Every range except `unicast` is rejected. This module adds:
 *
 * - `unassigned`: IPv6 addresses outside `2000::/3`, the only assigned global unicast range
 *   (RFC 4291). This includes the IPv4-compatible `::/96`, `1::/16`, `200::/7` and `4000::/2`.
 * - `isatap`: interface ids that embed an IPv4 address, under any prefix (RFC 5214).
 * - `providerInternal`: addresses in public ranges that lead to a cloud's internal services
 *   when used from its machines. `168.63.129.16` is Azure's wire server and DNS,
 *   `161.26.0.0/16` and `166.8.0.0/14` are IBM Cloud's services. Other clouds use link-local
 *   (`169.254.169.254`), unique local (`fd00:ec2::254`), shared or reserved addresses
 *   (`100.100.100.200`, `192.0.0.192`), which are rejected as such.
 *
 * Addresses that embed an IPv4 address (mapped, translated, NAT64, 6to4, Teredo, ISATAP) are
 * rejected even if the embedded address is public, because no public host needs them.
 */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** Returns whether the text is an IP address by `node:net`. */
export const isAddress = (text: string): boolean => isIP(text) !== 0

/**
 * Returns `public`, the name of a range of `ipaddr.js`, the name of a range of this module, or
 * `invalid` if the text is not an address. Legacy notations such as `0x7f.1` are invalid: the
 * URL parser converts them.
 */
export const classify = (address: string): string => {
  if (!isAddress(address)) return "invalid"
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== "unicast") return range
  return parsed instanceof ipaddr.IPv6 ? classifyUnicast6(parsed) : classifyUnicast4(parsed)
}

/**
 * Returns the one text of an address that has several, such as `2001:db8::1` and `2001:DB8:0::1`, or `10.0.0.1` and
 * `::ffff:10.0.0.1`, which a connection treats alike. Other text is returned unchanged.
 */
export const canonical = (address: string): string =>
  isAddress(address) ? ipaddr.process(address).toNormalizedString() : address

/** Returns whether an address of every machine leads to the machine itself. */
export const isLoopback = (address: string): boolean =>
  ["loopback", "unspecified"].includes(classify(canonical(address)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const providerInternal = ["168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14"]
  .map((range) => ipaddr.IPv4.parseCIDR(range))

const classifyUnicast4 = (address: ipaddr.IPv4): string =>
  providerInternal.some((range) => address.match(range)) ? "providerInternal" : "public"

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

const classifyUnicast6 = (address: ipaddr.IPv6): string => {
  if (!address.match(globalUnicast)) return "unassigned"
  const [, , , , upper, lower] = address.parts
  // The second lowest bit of the first byte marks a globally unique embedded address. Both forms are ISATAP.
  return lower === 0x5efe && ((upper as number) & ~0x0200) === 0 ? "isatap" : "public"
}
