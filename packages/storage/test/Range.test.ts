import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Range from "../src/Range.ts"

const whole = Range.Whole()
const none = Range.Unsatisfiable()
const part = (start: number, end: number) => Range.Part({ start, end })

/** Values of the header and the ranges of 1000 bytes that they select, with the section of RFC 9110. */
const cases: ReadonlyArray<readonly [header: string | undefined, expected: Range.Range]> = [
  // No header.
  [undefined, whole],
  // 14.1.2: first-pos and last-pos, both inclusive.
  ["bytes=0-0", part(0, 0)],
  ["bytes=0-1", part(0, 1)],
  ["bytes=0-499", part(0, 499)],
  ["bytes=500-999", part(500, 999)],
  ["bytes=999-999", part(999, 999)],
  ["bytes=500-500", part(500, 500)],
  ["bytes=0-999", part(0, 999)],
  ["bytes=007-0010", part(7, 10)],
  // 14.1.2: no last-pos, or one past the end, means the last byte.
  ["bytes=0-", part(0, 999)],
  ["bytes=1-", part(1, 999)],
  ["bytes=999-", part(999, 999)],
  ["bytes=9500-", none],
  ["bytes=0-1000", part(0, 999)],
  ["bytes=500-1000000", part(500, 999)],
  ["bytes=999-1000", part(999, 999)],
  ["bytes=0-99999999999999999999999999", part(0, 999)],
  // 14.1.2: suffixes.
  ["bytes=-1", part(999, 999)],
  ["bytes=-500", part(500, 999)],
  ["bytes=-999", part(1, 999)],
  ["bytes=-1000", part(0, 999)],
  ["bytes=-1001", part(0, 999)],
  ["bytes=-99999999999999999999999999", part(0, 999)],
  ["bytes=-01", part(999, 999)],
  // 14.1.2: an int-range that begins past the end, and an empty suffix, are unsatisfiable.
  ["bytes=1000-", none],
  ["bytes=1000-1000", none],
  ["bytes=1000-2000", none],
  ["bytes=99999999999999999999999999-", none],
  ["bytes=-0", none],
  ["bytes=-000", none],
  // 14.1.1: a last-pos below first-pos is invalid; 14.2: what is invalid may be ignored.
  ["bytes=1-0", whole],
  ["bytes=500-499", whole],
  ["bytes=2000-1999", whole],
  ["bytes=", whole],
  ["bytes=-", whole],
  ["bytes=--1", whole],
  ["bytes=-1-", whole],
  ["bytes=1", whole],
  ["bytes=a-b", whole],
  ["bytes=0-b", whole],
  ["bytes=0x0-0x9", whole],
  ["bytes=+0-1", whole],
  ["bytes=0.0-1.5", whole],
  ["bytes=1e2-2e2", whole],
  ["bytes=0 - 1", whole],
  ["bytes=0-1 2-3", whole],
  ["bytes=0-1;2-3", whole],
  ["bytes 0-1", whole],
  ["bytes: 0-1", whole],
  ["bytes =0-1", whole],
  ["0-1", whole],
  ["", whole],
  ["=0-1", whole],
  ["bytes=0-1\n", whole],
  ["bytes=٠-١", whole],
  // 14.1: other units are ignored; names of units know no case.
  ["items=0-1", whole],
  ["byte=0-1", whole],
  ["none=0-1", whole],
  ["Bytes=0-1", part(0, 1)],
  ["BYTES=-1", part(999, 999)],
  // 14.2: several ranges may be ignored, also if one of them would be valid.
  ["bytes=0-0,1-1", whole],
  ["bytes=0-0, -1", whole],
  ["bytes=0-,0-", whole],
  ["bytes=0-0,2000-", whole],
  ["bytes=2000-,3000-", whole],
  ["bytes=0-0,x", whole],
  // 5.6.1.2: empty members of a list do not count.
  ["bytes=,0-1", part(0, 1)],
  ["bytes=0-1,", part(0, 1)],
  ["bytes=, ,0-1 ,\t,", part(0, 1)],
  ["bytes=,", whole],
  // Space around a member is accepted, as servers commonly do.
  ["bytes= 0-1", part(0, 1)],
  ["bytes=0-1 ", part(0, 1)]
]

it.effect(`parses ${cases.length} forms of the header as RFC 9110 says`, () =>
  Effect.sync(() => {
    for (const [header, expected] of cases) assert.deepStrictEqual(Range.parse(header, 1_000), expected, header)
  }))

it.effect("is Unsatisfiable for every range of an empty representation", () =>
  Effect.sync(() => {
    for (const header of ["bytes=0-", "bytes=0-0", "bytes=-1", "bytes=-0", "bytes=5-"]) {
      assert.deepStrictEqual(Range.parse(header, 0), none, header)
    }
    for (const header of [undefined, "bytes=1-0", "items=0-1", "bytes=0-0,1-1"]) {
      assert.deepStrictEqual(Range.parse(header, 0), whole, header)
    }
  }))

it.effect("returns the only byte of a representation of one byte", () =>
  Effect.sync(() => {
    for (const header of ["bytes=0-", "bytes=0-0", "bytes=-1", "bytes=-5", "bytes=0-5"]) {
      assert.deepStrictEqual(Range.parse(header, 1), part(0, 0), header)
    }
  }))

it.effect("works beyond 4 GiB", () =>
  Effect.sync(() => {
    const size = 2 ** 40
    assert.deepStrictEqual(Range.parse("bytes=4294967296-4294967297", size), part(2 ** 32, 2 ** 32 + 1))
    assert.deepStrictEqual(Range.parse("bytes=-1", size), part(size - 1, size - 1))
  }))

it.effect.prop(
  "stays within the representation for any header",
  [
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
  ],
  ([size, first, last]) =>
    Effect.sync(() => {
      for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
        const range = Range.parse(header, size)
        if (range._tag === "Part") {
          assert.isTrue(range.start >= 0 && range.start <= range.end && range.end < size, header)
        }
      }
    })
)

it.effect("formats Content-Range", () =>
  Effect.sync(() => {
    assert.strictEqual(Range.contentRange({ start: 0, end: 0 }, 1_000), "bytes 0-0/1000")
    assert.strictEqual(Range.contentRangeUnsatisfied(1_000), "bytes */1000")
  }))

it.effect("parses a hostile header in linear time", () =>
  Effect.sync(() => {
    const long = 1_000_000
    const spaces = " ".repeat(long)
    for (
      const text of [`bytes=${spaces}x`, `bytes=0${spaces}x`, "bytes=" + ",".repeat(long), "bytes=" + "9".repeat(long)]
    ) {
      assert.deepStrictEqual(Range.parse(text, 1_000), whole)
    }
  }))
