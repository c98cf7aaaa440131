import { assert, it } from "@effect/vitest"
import { DateTime, Option, Schema } from "effect"
import { parameterOf } from "../src/internal/external/parameters.ts"
import * as Rows from "../src/Rows.ts"

it("decodes times as dates, and as the text of Postgres and of JSON", () => {
  const decode = Schema.decodeUnknownOption(Rows.timestamptz)
  const epoch = (value: unknown) => Option.getOrUndefined(Option.map(decode(value), DateTime.toEpochMillis))
  const at = Date.UTC(2026, 2, 29, 1, 30, 0, 123)
  for (
    const value of [
      new Date(at),
      "2026-03-29 01:30:00.123+00",
      "2026-03-29 01:30:00.123456+00",
      "2026-03-29T01:30:00.123+00:00",
      "2026-03-29T01:30:00.123Z",
      "2026-03-29 15:30:00.123+14",
      "2026-03-28 23:00:00.123-02:30"
    ]
  ) assert.strictEqual(epoch(value), at, String(value))
  assert.strictEqual(epoch("0044-03-15 00:00:00+00"), Date.parse("0044-03-15T00:00:00Z"))
  // Without an offset, the time depends on a zone.
  for (const value of ["2026-03-29 01:30:00", "29/03/2026 01:30:00.123 UTC", "infinity", "", new Date(NaN), at, null]) {
    assert.isUndefined(epoch(value), String(value))
  }
})

it("decodes int8 as a bigint, its digits, and a number that is exact", () => {
  const decode = Schema.decodeUnknownOption(Rows.int8)
  for (const value of [7n, "7", 7]) assert.deepStrictEqual(decode(value), Option.some(7n))
  assert.deepStrictEqual(decode("-9007199254740993"), Option.some(-9007199254740993n))
  for (const value of ["", "x", "1.5", 1.5, 2 ** 53, null]) assert.isTrue(Option.isNone(decode(value)), String(value))
})

it("decodes bytea as bytes, and as hexadecimal text", () => {
  const decode = Schema.decodeUnknownOption(Rows.bytea)
  const bytes = Uint8Array.of(0, 255)
  for (const value of [bytes, "\\x00ff"]) assert.deepStrictEqual(decode(value), Option.some(bytes))
  for (const value of ["00ff", "\\x0", "\\000\\377", "", null]) {
    assert.isTrue(Option.isNone(decode(value)), String(value))
  }
})

it("passes parameters as text, except for null, booleans and bytes", () => {
  const bytes = Uint8Array.of(0, 255)
  const parameters: ReadonlyArray<readonly [value: unknown, parameter: null | boolean | string | Uint8Array]> = [
    [null, null],
    [undefined, null],
    [true, true],
    [bytes, bytes],
    ["text", "text"],
    [1.5, "1.5"],
    [2n ** 63n - 1n, "9223372036854775807"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [{ a: 1 }, "{\"a\":1}"],
    [[], "{}"],
    [["a\"b\\", "NULL", "", null], "{\"a\\\"b\\\\\",\"NULL\",\"\",NULL}"],
    [[1n, false], "{\"1\",\"false\"}"],
    [[new Date(0), bytes], "{\"1970-01-01T00:00:00.000Z\",\"\\\\x00ff\"}"],
    [[[1], [2]], "{{\"1\"},{\"2\"}}"]
  ]
  for (const [value, parameter] of parameters) assert.deepStrictEqual(parameterOf(value), parameter)
})
