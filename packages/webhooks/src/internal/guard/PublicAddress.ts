/**
 * Which addresses are public: unicast, of the internet, and not a way to another address.
 *
 * The ranges are those of `ipaddr.js`, which follows IANA's registries of special
 * addresses; what it calls anything but unicast is refused. What is added here:
 *
 * - `unassigned`: of IPv6 only `2000::/3` is given out as global unicast (RFC 4291).
 *   With it go the IPv4-compatible `::/96`, `1::/16`, `200::/7`, `4000::/2` and the like.
 * - `isatap`: interface ids with an IPv4 address inside, below any prefix (RFC 5214).
 * - `providerInternal`: what a cloud gives its own machines at addresses that look public,
 *   and lead there from nowhere else. `168.63.129.16`: Azure's wire server and DNS.
 *   `161.26.0.0/16` and `166.8.0.0/14`: IBM Cloud's services for its hosts. Those of the
 *   others are link-local (`169.254.169.254`), unique local (`fd00:ec2::254`) or of shared
 *   and reserved space (`100.100.100.200`, `192.0.0.192`), and refused as such.
 *
 * Whatever carries an IPv4 address inside (mapped, translated, NAT64, 6to4, Teredo,
 * ISATAP) is refused even if that one is public: nobody needs it to name a host.
 */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** Whether it is one, as `node:net` knows them. */
export const isAddress = (text: string): boolean => isIP(text) !== 0

/**
 * `public`, or else the name of the range: one of `ipaddr.js`, one that is added here, or
 * `invalid` for what is no address. Odd notations are for the URL parser to read.
 */
export const classify = (address: string): string => {
  if (!isAddress(address)) return "invalid"
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== "unicast") return range
  return parsed instanceof ipaddr.IPv6 ? classifyUnicast6(parsed) : classifyUnicast4(parsed)
}

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
  // The second lowest bit of the first byte says whether the embedded address is unique; either form is one.
  return lower === 0x5efe && ((upper as number) & ~0x0200) === 0 ? "isatap" : "public"
}
