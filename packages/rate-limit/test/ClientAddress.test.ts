import { assert, it } from "@effect/vitest"
import { group, site } from "../src/ClientAddress.ts"

it("groups the addresses that one client can choose from", () => {
  const cases = [
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["2001:0db8:0000:0001:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["not an address", "unknown"]
  ] as const
  for (const [address, expected] of cases) assert.strictEqual(group(address), expected)
  assert.strictEqual(group(undefined), "unknown")
})

it("groups the addresses that one site can choose from", () => {
  const cases = [
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:1::1", "2001:db8:1::/48"],
    ["2001:db8:1:ffff::1", "2001:db8:1::/48"],
    ["2001:db8:2::1", "2001:db8:2::/48"],
    ["fd12:3456:789a:1::1", "fd12:3456:789a:1::/64"],
    ["fc00::1", "fc00:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0::/48"],
    ["not an address", "unknown"]
  ] as const
  for (const [address, expected] of cases) assert.strictEqual(site(address), expected)
  assert.strictEqual(site(undefined), "unknown")
})
