import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Preconditions from "../src/Preconditions.ts"

const before = "Sun, 06 Nov 1994 08:49:36 GMT"
const exact = "Sun, 06 Nov 1994 08:49:37 GMT"
const after = "Sun, 06 Nov 1994 08:49:38 GMT"

/** Modified within the second of `exact`: what is sent has no milliseconds. */
const lastModified = DateTime.makeUnsafe("1994-11-06T08:49:37.250Z")
const strong: Preconditions.Validators = { etag: `"abc"`, lastModified }
const weak: Preconditions.Validators = { etag: `W/"abc"`, lastModified }

type Case = readonly [Preconditions.Conditions, Preconditions.Outcome, Preconditions.Validators?]

const expectAll = (cases: ReadonlyArray<Case>) =>
  Effect.sync(() => {
    for (const [conditions, outcome, validators = strong] of cases) {
      assert.strictEqual(Preconditions.evaluate(conditions, validators), outcome, JSON.stringify(conditions))
    }
  })

it.effect("proceeds without conditions", () => expectAll([[{}, "Proceed"]]))

it.effect("compares If-None-Match weakly (13.1.2)", () =>
  expectAll([
    [{ ifNoneMatch: `"abc"` }, "NotModified"],
    [{ ifNoneMatch: `W/"abc"` }, "NotModified"],
    [{ ifNoneMatch: `"abc"` }, "NotModified", weak],
    [{ ifNoneMatch: `W/"abc"` }, "NotModified", weak],
    [{ ifNoneMatch: `*` }, "NotModified"],
    [{ ifNoneMatch: ` * ` }, "NotModified"],
    [{ ifNoneMatch: `"x"` }, "Proceed"],
    [{ ifNoneMatch: `"ABC"` }, "Proceed"],
    [{ ifNoneMatch: `""` }, "Proceed"],
    [{ ifNoneMatch: `"x", "abc"` }, "NotModified"],
    [{ ifNoneMatch: `"x" ,W/"abc",, "y",` }, "NotModified"],
    [{ ifNoneMatch: `"x","y"` }, "Proceed"]
  ]))

it.effect("parses a tag that contains a comma or a space", () =>
  expectAll([
    [{ ifNoneMatch: `"a,b"` }, "NotModified", { etag: `"a,b"`, lastModified }],
    [{ ifNoneMatch: `"x,"abc",y"` }, "Proceed"],
    [{ ifNoneMatch: `"x, "` }, "Proceed"]
  ]))

it.effect("matches nothing with a malformed list", () =>
  expectAll([
    [{ ifNoneMatch: `abc` }, "Proceed"],
    [{ ifNoneMatch: `"abc` }, "Proceed"],
    [{ ifNoneMatch: `"abc" x` }, "Proceed"],
    [{ ifNoneMatch: `"abc" "x"` }, "Proceed"],
    [{ ifNoneMatch: `w/"abc"` }, "Proceed"],
    [{ ifNoneMatch: `` }, "Proceed"],
    [{ ifMatch: `abc` }, "Failed"],
    [{ ifMatch: `` }, "Failed"]
  ]))

it.effect("compares If-Match strongly (13.1.1)", () =>
  expectAll([
    [{ ifMatch: `"abc"` }, "Proceed"],
    [{ ifMatch: `"x", "abc"` }, "Proceed"],
    [{ ifMatch: `*` }, "Proceed"],
    [{ ifMatch: `"x"` }, "Failed"],
    [{ ifMatch: `W/"abc"` }, "Failed"],
    [{ ifMatch: `W/"abc"` }, "Failed", weak],
    [{ ifMatch: `"abc"` }, "Failed", weak]
  ]))

it.effect("compares dates by the second (13.1.3, 13.1.4)", () =>
  expectAll([
    [{ ifModifiedSince: before }, "Proceed"],
    [{ ifModifiedSince: exact }, "NotModified"],
    [{ ifModifiedSince: after }, "NotModified"],
    [{ ifUnmodifiedSince: before }, "Failed"],
    [{ ifUnmodifiedSince: exact }, "Proceed"],
    [{ ifUnmodifiedSince: after }, "Proceed"]
  ]))

it.effect("reads the three forms of a date (5.6.7), and ignores malformed dates", () =>
  expectAll([
    [{ ifModifiedSince: "Sunday, 06-Nov-94 08:49:37 GMT" }, "NotModified"],
    [{ ifModifiedSince: "Sun Nov  6 08:49:37 1994" }, "NotModified"],
    [{ ifModifiedSince: "Sun Nov  6 08:49:36 1994" }, "Proceed"],
    [{ ifModifiedSince: "1994-11-06T08:49:38Z" }, "Proceed"],
    [{ ifModifiedSince: "Sun, 06 Nov 1994 08:49:38 +0000" }, "Proceed"],
    [{ ifModifiedSince: "Sun, 31 Feb 1999 08:49:38 GMT" }, "Proceed"],
    [{ ifModifiedSince: "0" }, "Proceed"],
    [{ ifUnmodifiedSince: "tomorrow" }, "Proceed"]
  ]))

it.effect("evaluates tags before dates, and Failed before NotModified (13.2.2)", () =>
  expectAll([
    [{ ifMatch: `"abc"`, ifUnmodifiedSince: before }, "Proceed"],
    [{ ifMatch: `"x"`, ifUnmodifiedSince: after }, "Failed"],
    [{ ifNoneMatch: `"x"`, ifModifiedSince: after }, "Proceed"],
    [{ ifNoneMatch: `"abc"`, ifModifiedSince: before }, "NotModified"],
    [{ ifMatch: `"x"`, ifNoneMatch: `"abc"` }, "Failed"],
    [{ ifMatch: `"abc"`, ifNoneMatch: `"abc"` }, "NotModified"],
    [{ ifUnmodifiedSince: before, ifNoneMatch: `"abc"` }, "Failed"],
    [{ ifUnmodifiedSince: after, ifModifiedSince: after }, "NotModified"]
  ]))

it.effect("applies a range when If-Range is current (13.1.5)", () =>
  Effect.sync(() => {
    const cases: ReadonlyArray<readonly [string | undefined, boolean, Preconditions.Validators?]> = [
      [undefined, true],
      [`"abc"`, true],
      [` "abc" `, true],
      [`"x"`, false],
      [`W/"abc"`, false],
      [`W/"abc"`, false, weak],
      [`"abc"`, false, weak],
      [`*`, false],
      [`"abc", "x"`, false],
      [`abc`, false],
      [``, false],
      [exact, true],
      [before, false],
      [after, false],
      ["Sunday, 06-Nov-94 08:49:37 GMT", true],
      ["Sun Nov  6 08:49:37 1994", true],
      ["1994-11-06T08:49:37Z", false]
    ]
    for (const [header, expected, validators = strong] of cases) {
      assert.strictEqual(Preconditions.isRangeCurrent(header, validators), expected, header)
    }
  }))

it.effect("parses a hostile header in linear time", () =>
  expectAll([
    [{ ifNoneMatch: " ,".repeat(500_000) + "x" }, "Proceed"],
    [{ ifNoneMatch: `"x",`.repeat(100_000) + "x" }, "Proceed"],
    [{ ifNoneMatch: `"x"` + " ".repeat(500_000) + "x" }, "Proceed"]
  ]))
