import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { classify } from "../src/internal/PublicAddress.ts"

it.each([
  // Neighbours of private ranges.
  "1.0.0.1",
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "161.25.255.255",
  "161.27.0.0",
  "166.7.255.255",
  "166.12.0.0",
  "168.63.129.15",
  "168.63.129.17",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "191.255.255.255",
  "192.0.1.0",
  "192.0.3.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2000::1",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2003::1",
  "2606:4700:4700::1111",
  "2620:fe::fe",
  "2a00:1450:4001:81b::200e",
  "3ffe::1",
  // An interface id that resembles ISATAP.
  "2001:4860::1:5efe:a00:1",
  "2001:4860::5efe:a00:1:0"
])("classifies %s as public", (address) => {
  assert.strictEqual(classify(address), "public")
})

it.each([
  ["0.0.0.0", "unspecified"],
  ["0.0.0.1", "unspecified"],
  ["0.255.255.255", "unspecified"],
  ["10.0.0.0", "private"],
  ["10.255.255.255", "private"],
  ["100.64.0.0", "carrierGradeNat"],
  ["100.100.100.200", "carrierGradeNat"],
  ["100.127.255.255", "carrierGradeNat"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["169.254.0.1", "linkLocal"],
  ["169.254.169.254", "linkLocal"],
  ["161.26.0.0", "providerInternal"],
  ["161.26.255.255", "providerInternal"],
  ["166.8.0.0", "providerInternal"],
  ["166.11.255.255", "providerInternal"],
  ["168.63.129.16", "providerInternal"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.0.0.1", "reserved"],
  ["192.0.0.170", "reserved"],
  ["192.0.0.192", "reserved"],
  ["192.0.2.1", "reserved"],
  ["192.31.196.1", "as112"],
  ["192.52.193.1", "amt"],
  ["192.88.99.1", "reserved"],
  ["192.168.0.0", "private"],
  ["192.168.255.255", "private"],
  ["192.175.48.1", "as112"],
  ["198.18.0.0", "reserved"],
  ["198.19.255.255", "reserved"],
  ["198.51.100.1", "reserved"],
  ["203.0.113.1", "reserved"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.254", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["::2", "unassigned"],
  // The library parses dotted IPv4-compatible addresses as mapped ones.
  ["::127.0.0.1", "ipv4Mapped"],
  ["::7f00:1", "unassigned"],
  ["::8.8.8.8", "ipv4Mapped"],
  ["::ffff:127.0.0.1", "ipv4Mapped"],
  ["::ffff:a9fe:a9fe", "ipv4Mapped"],
  ["::ffff:8.8.8.8", "ipv4Mapped"],
  ["::ffff:0:127.0.0.1", "rfc6145"],
  ["64:ff9b::127.0.0.1", "rfc6052"],
  ["64:ff9b::a9fe:a9fe", "rfc6052"],
  ["64:ff9b::8.8.8.8", "rfc6052"],
  ["64:ff9b:1::1", "rfc6052"],
  ["64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "rfc6052"],
  ["64:ff9b:2::1", "unassigned"],
  ["100::1", "discard"],
  ["100:0:0:1::1", "unassigned"],
  ["200::1", "unassigned"],
  ["400::1", "unassigned"],
  ["1000::1", "unassigned"],
  ["1fff:ffff::1", "unassigned"],
  ["2001::1", "teredo"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "teredo"],
  ["2001:1::1", "reserved"],
  ["2001:2::1", "benchmarking"],
  ["2001:3::1", "amt"],
  ["2001:4:112::1", "as112v6"],
  ["2001:10::1", "deprecatedOrchid"],
  ["2001:20::1", "orchid2"],
  ["2001:30::1", "droneRemoteIdProtocolEntityTags"],
  ["2001:1ff::1", "reserved"],
  ["2001:db8::1", "reserved"],
  ["2001:db8:ffff::1", "reserved"],
  ["2002:7f00:1::1", "6to4"],
  ["2002:a9fe:a9fe::", "6to4"],
  ["2620:4f:8000::1", "as112v6"],
  ["3fff::1", "reserved"],
  ["3fff:fff::1", "reserved"],
  ["4000::1", "unassigned"],
  ["5f00::1", "segmentRouting"],
  ["6000::1", "unassigned"],
  ["8000::1", "unassigned"],
  ["c000::1", "unassigned"],
  ["fbff::1", "unassigned"],
  ["fc00::1", "uniqueLocal"],
  ["fd00:ec2::254", "uniqueLocal"],
  ["fdff:ffff::1", "uniqueLocal"],
  ["fe00::1", "unassigned"],
  ["fe80::1", "linkLocal"],
  ["fe80::5efe:a00:1", "linkLocal"],
  ["fe80::1%eth0", "linkLocal"],
  ["febf::1", "linkLocal"],
  ["fec0::1", "deprecatedSiteLocal"],
  ["feff::1", "deprecatedSiteLocal"],
  ["ff02::1", "multicast"],
  ["ff0e::1", "multicast"],
  ["2a00:1450::5efe:10.0.0.1", "isatap"],
  ["2a00:1450::200:5efe:a00:1", "isatap"],
  ["2a00:1450::5efe:8.8.8.8", "isatap"],
  ["", "invalid"],
  ["localhost", "invalid"],
  ["127.1", "invalid"],
  ["0x7f.0.0.1", "invalid"],
  ["0177.0.0.1", "invalid"],
  ["2130706433", "invalid"],
  ["127.0.0.1.", "invalid"],
  ["127.0.0.1 ", "invalid"],
  ["[::1]", "invalid"],
  ["1.1.1.1/32", "invalid"]
])("classifies %s as %s", (address, kind) => {
  assert.strictEqual(classify(address), kind)
})

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Bytes = Schema.Tuple([Byte, Byte, Byte, Byte])
const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))
const Groups = Schema.Tuple([Group, Group, Group, Group])

const hex = (number: number) => number.toString(16)

/** Every notation that embeds an IPv4 address in an IPv6 address. */
const embed = ([a, b, c, d]: typeof Bytes.Type, [w, x, y, z]: typeof Groups.Type): ReadonlyArray<string> => {
  const four = `${a}.${b}.${c}.${d}`
  const [high, low] = [hex(a * 256 + b), hex(c * 256 + d)]
  const inverted = `${hex((a * 256 + b) ^ 0xffff)}:${hex((c * 256 + d) ^ 0xffff)}`
  const global = hex(0x2400 + (w & 0x3ff))
  return [
    `::${four}`,
    `::${high}:${low}`,
    `::ffff:${four}`,
    `::ffff:${high}:${low}`,
    `::ffff:0:${four}`,
    `64:ff9b::${four}`,
    `64:ff9b:1:${hex(x)}:${hex(y)}:${hex(z)}:${high}:${low}`,
    `2002:${high}:${low}:${hex(w)}:${hex(x)}:${hex(y)}:${hex(z)}:1`,
    `2001:0:${high}:${low}:${hex(w)}:${hex(x)}:${inverted}`,
    `2001:0:${hex(w)}:${hex(x)}:8000:${hex(z)}:${inverted}`,
    `${global}:${hex(x)}:${hex(y)}:${hex(z)}:0:5efe:${four}`,
    `${global}:${hex(x)}:${hex(y)}:${hex(z)}:200:5efe:${high}:${low}`,
    `fe80::${four}`,
    `fc00::${four}`,
    `fec0::${four}`
  ]
}

it.prop(
  "rejects every IPv4 address in every IPv6 notation that embeds it",
  [Bytes, Groups],
  ([bytes, groups]) => {
    for (const address of embed(bytes, groups)) assert.notStrictEqual(classify(address), "public", address)
  }
)

it.prop("rejects every IPv6 address outside of 2000::/3", [Group, Groups], ([first, [w, x, y, z]]) => {
  const address = `${hex(first)}:${hex(w)}:${hex(x)}::${hex(y)}:${hex(z)}`
  if (first < 0x2000 || first > 0x3fff) assert.notStrictEqual(classify(address), "public", address)
})

const privateFirst = new Set([0, 10, 127, ...Array.from({ length: 32 }, (_, index) => 224 + index)])

it.prop("rejects every IPv4 address whose first byte is special", [Bytes], ([[, b, c, d]]) => {
  for (const a of privateFirst) assert.notStrictEqual(classify(`${a}.${b}.${c}.${d}`), "public")
})
