/** Numbers, times, CSV and charts. */
import { assert, describe, it } from "@effect/vitest"
import { amountOf } from "../src/format/booking.ts"
import { barPath, ticksOf } from "../src/format/chart.ts"
import { csv } from "../src/format/csv.ts"
import { deviceName } from "../src/format/device.ts"
import { bytes, count, money, percent, plural } from "../src/format/number.ts"
import { oneOf, textOf } from "../src/format/search.ts"
import { date, day, duration, isoDay, relative, utc } from "../src/format/time.ts"

it("writes numbers with separators and units", () => {
  assert.strictEqual(count(1_204), "1,204")
  assert.strictEqual(plural(1, "job"), "1 job")
  assert.strictEqual(plural(2, "delivery", "deliveries"), "2 deliveries")
  assert.strictEqual(money(2_900), "$29.00")
  assert.strictEqual(percent(1, 3), "33.3 %")
  assert.strictEqual(percent(0, 0), "–")
  assert.deepStrictEqual([0, 512, 1_536, 3 * 1024 ** 3, 200 * 1024 ** 2].map(bytes), [
    "0 B",
    "512 B",
    "1.5 KiB",
    "3.0 GiB",
    "200 MiB"
  ])
})

it("writes times relative to now, in either direction", () => {
  const now = Date.parse("2026-11-24T12:00:00Z")
  const ago = (millis: number) => relative(now - millis, now)
  assert.strictEqual(ago(2_000), "just now")
  assert.strictEqual(ago(48_000), "48 s ago")
  assert.strictEqual(ago(60_000), "1 minute ago")
  assert.strictEqual(ago(2 * day), "2 days ago")
  assert.strictEqual(relative(now + 4_000, now), "in 4 s")
  assert.strictEqual(relative(now + 9 * day, now), "in 9 days")
  assert.strictEqual(relative(now + 400 * day, now), "in 13 months")
})

it("writes times and days in UTC, wherever the browser is", () => {
  assert.strictEqual(utc("2026-11-24T23:30:00.123Z"), "2026-11-24 23:30:00 UTC")
  assert.strictEqual(date("2026-11-24T23:30:00Z"), "24 Nov 2026")
  assert.strictEqual(isoDay(Date.parse("2026-11-24T23:30:00Z")), "2026-11-24")
})

it("writes durations with the unit that fits", () => {
  assert.deepStrictEqual([-5, 240, 9_940, 48_400, 125_000, 12_000_000, 90_000_000].map(duration), [
    "0.0 s",
    "0.2 s",
    "9.9 s",
    "48 s",
    "2 min 5 s",
    "3 h 20 min",
    "1 day 1 h"
  ])
})

describe("CSV", () => {
  it("quotes text and keeps numbers", () => {
    assert.strictEqual(csv(["name", "jobs"], [["a \"b\"", 3], [null, 0]]), "name,jobs\r\n\"a \"\"b\"\"\",3\r\n,0")
  })

  it("prefixes cells that a spreadsheet would evaluate", () => {
    for (const start of ["=", "+", "-", "@", "\t", "\r"]) {
      assert.strictEqual(csv(["x"], [[`${start}HYPERLINK()`]]), `x\r\n"'${start}HYPERLINK()"`)
    }
  })
})

describe("chart", () => {
  it("has at most six round ticks that reach the maximum", () => {
    for (const max of [0, 1, 3, 7, 12, 99, 144, 2_501, 1_000_000]) {
      const ticks = ticksOf(max)
      assert.isAtMost(ticks.length, 6, String(max))
      assert.isAtLeast(ticks.at(-1) ?? 0, max)
      assert.isTrue(ticks.every(Number.isInteger))
    }
    assert.deepStrictEqual(ticksOf(144), [0, 50, 100, 150])
  })

  it("draws bars from their lower corners", () => {
    assert.strictEqual(barPath(0, 10, 20, 30, 4), "M0,40V14Q0,10 4,10H16Q20,10 20,14V40Z")
  })
})

it("reads known values of the URL and ignores others", () => {
  assert.deepStrictEqual(oneOf("plan", { plan: "studio" }, ["studio", "credits"]), { plan: "studio" })
  assert.deepStrictEqual(oneOf("plan", { plan: "<script>" }, ["studio", "credits"]), {})
  assert.deepStrictEqual(textOf("q", { q: 2026 }), { q: "2026" })
  assert.deepStrictEqual(textOf("q", { q: { toString: "x" } }), {})
})

it("names the browser and the system of a session", () => {
  const edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0"
  assert.strictEqual(deviceName(edge), "Edge on Windows")
  assert.strictEqual(
    deviceName("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    "Firefox on Linux"
  )
  assert.strictEqual(deviceName("curl/8.5.0"), "curl/8.5.0")
  assert.strictEqual(deviceName(null), "Unknown device")
})
it("shows amounts of bookings with their sign and unit", () => {
  const entry = { from: "lot_1", to: "consumed", amount: 12 }
  assert.strictEqual(amountOf({ kind: "charge", amount: 12, entries: [entry] }), "−12 credits")
  const quota = { from: "quota:image:2026-11-24", to: "allowance", amount: 1 }
  assert.strictEqual(amountOf({ kind: "refund", amount: 1, entries: [quota] }), "+1 image")
  const held = { from: "lot_1", to: "held:quota:1", amount: 5 }
  assert.strictEqual(amountOf({ kind: "hold", amount: 5, entries: [held] }), "−5 credits")
  const returned = { from: held.to, to: held.from, amount: 5 }
  assert.strictEqual(amountOf({ kind: "release", amount: 5, entries: [returned] }), "+5 credits")
})
