/**
 * Ranges and conditional requests over a socket, compared with RFC 9110: sections 13 (conditions), 14 (ranges) and 15
 * (responses).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import { databases, makeSite } from "./sites.ts"
import * as smallVideo from "./smallVideo.ts"

const { bytes } = smallVideo
const files = { "thousand": { mime: "video/mp4", bytes } } as const

/** Request headers. `{etag}`, `{modified}`, `{earlier}` and `{later}` are replaced by values of the result. */
type Sent = Readonly<Record<string, string>>

/** 206 with these bytes, both inclusive; 200 for `whole`; otherwise a status. */
type Expected = readonly [first: number, last: number] | "whole" | 304 | 416

interface Case {
  readonly what: string
  readonly sent: Sent
  readonly expected: Expected
}

const range = (what: string, value: string, expected: Expected): Case => ({
  what,
  sent: { range: value },
  expected
})

const ranges: ReadonlyArray<Case> = [
  range("the first byte", "bytes=0-0", [0, 0]),
  range("the last byte", "bytes=999-999", [999, 999]),
  range("some in the middle", "bytes=100-199", [100, 199]),
  range("a suffix", "bytes=-10", [990, 999]),
  range("a suffix of one byte", "bytes=-1", [999, 999]),
  range("a suffix as long as the file (14.1.2)", "bytes=-1000", [0, 999]),
  range("a suffix longer than the file (14.1.2)", "bytes=-100000", [0, 999]),
  range("an open end", "bytes=500-", [500, 999]),
  range("an open end from the start", "bytes=0-", [0, 999]),
  range("an end past the last byte (14.1.2)", "bytes=990-100000", [990, 999]),
  range("an end past what a number holds", "bytes=0-99999999999999999999999", [0, 999]),
  range("a unit in capitals (14.1)", "BYTES=0-1", [0, 1]),
  range("empty members of the list (5.6.1.2)", "bytes=,, 0-1 ,", [0, 1]),
  range("a start at the end", "bytes=1000-", 416),
  range("a start past the end", "bytes=2000-3000", 416),
  range("a start past what a number holds", "bytes=99999999999999999999999-", 416),
  range("a suffix of nothing (14.1.2)", "bytes=-0", 416),
  range("an end before its start (14.1.1)", "bytes=200-100", "whole"),
  range("no number", "bytes=a-b", "whole"),
  range("a sign", "bytes=+1-2", "whole"),
  range("a fraction", "bytes=0.5-1", "whole"),
  range("neither start nor end", "bytes=-", "whole"),
  range("no range", "bytes=", "whole"),
  range("no unit", "0-1", "whole"),
  range("spaces where none may be", "bytes = 0-1", "whole"),
  range("another unit (14.2)", "items=0-1", "whole"),
  range("two ranges", "bytes=0-1,3-4", "whole"),
  range("two ranges that touch", "bytes=0-1,2-4", "whole"),
  range("many ranges", `bytes=${Array.from({ length: 200 }, (_, n) => `${n * 2}-${n * 2}`).join()}`, "whole")
]

const ifRange = (what: string, value: string, expected: Expected): Case => ({
  what: `If-Range with ${what}`,
  sent: { "range": "bytes=0-1", "if-range": value },
  expected
})

const conditions: ReadonlyArray<Case> = [
  ifRange("the tag (13.1.5)", "{etag}", [0, 1]),
  ifRange("a weak tag, which never matches (13.1.5)", "W/{etag}", "whole"),
  ifRange("a stale tag", "\"stale\"", "whole"),
  ifRange("a tag without quotes", "stale", "whole"),
  ifRange("the date (13.1.5)", "{modified}", [0, 1]),
  ifRange("an earlier date", "{earlier}", "whole"),
  ifRange("a later date, which does not match either (13.1.5)", "{later}", "whole"),
  ifRange("a date that is none", "yesterday", "whole"),
  { what: "If-Range without a Range (13.1.5)", sent: { "if-range": "{etag}" }, expected: "whole" },
  { what: "the same tag", sent: { "if-none-match": "{etag}" }, expected: 304 },
  { what: "the same tag, weak (13.1.2)", sent: { "if-none-match": "W/{etag}" }, expected: 304 },
  { what: "one of several tags", sent: { "if-none-match": "\"other\", {etag}" }, expected: 304 },
  { what: "any tag", sent: { "if-none-match": "*" }, expected: 304 },
  { what: "another tag", sent: { "if-none-match": "\"other\"" }, expected: "whole" },
  { what: "no change since", sent: { "if-modified-since": "{modified}" }, expected: 304 },
  { what: "no change since later", sent: { "if-modified-since": "{later}" }, expected: 304 },
  { what: "a change since", sent: { "if-modified-since": "{earlier}" }, expected: "whole" },
  { what: "a date that is none (13.1.3)", sent: { "if-modified-since": "yesterday" }, expected: "whole" },
  {
    what: "another tag and no change since: the tag counts (13.1.3)",
    sent: { "if-none-match": "\"other\"", "if-modified-since": "{later}" },
    expected: "whole"
  },
  {
    what: "the same tag and a range: nothing is sent (13.2.2)",
    sent: { "if-none-match": "{etag}", "range": "bytes=0-1" },
    expected: 304
  },
  {
    what: "the same tag and a range that cannot be (13.2.2)",
    sent: { "if-none-match": "{etag}", "range": "bytes=5000-" },
    expected: 304
  },
  {
    what: "another tag and a range (13.2.2)",
    sent: { "if-none-match": "\"other\"", "range": "bytes=0-1" },
    expected: [0, 1]
  },
  {
    what: "a stale If-Range and a range that cannot be: the range is ignored (13.1.5)",
    sent: { "range": "bytes=5000-", "if-range": "\"stale\"" },
    expected: "whole"
  }
]

const places = ["memory", ...databases] as const

describe.concurrent("the content endpoint", { timeout: 600_000 }, () => {
  for (const place of places) {
    it.live(`follows RFC 9110 for Range, If-Range and If-None-Match (${place})`, () =>
      Effect.gen(function*() {
        const models = FileGenerator.models(files)
        const site = place === "memory" ? undefined : yield* makeSite(place, models)
        const host = LocalHost.layer({
          models,
          generator: FileGenerator.layer(files),
          site,
          // The table requests the file more often than the default limit of ten times its size per day.
          http: { resultDownloadMultiple: 1_000 }
        })
        yield* Effect.provide(checkResult, yield* Layer.build(host))
      }))
  }
})

const checkResult = Effect.gen(function*() {
  const { key } = yield* Books.openAccount({ credits: 10 })
  const client = Client.make(yield* LocalHost.baseUrl, key)
  const { id } = yield* client.createJob({ model: "thousand" })
  const { output } = yield* client.awaitEnd(id)
  yield* checkFile(output?.url ?? "")
})

const send = (...request: Parameters<typeof Client.send>) => Client.untilAvailable(Client.send(...request))

const checkFile = Effect.fnUntraced(function*(url: string) {
  const whole = yield* send(url)
  const facts = factsOf(whole)
  assertWhole("no condition", whole, bytes, facts)
  for (const { expected, sent, what } of [...ranges, ...conditions]) {
    const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, filled(value, facts)]))
    assertExpected(
      what,
      yield* send(url, { headers }),
      bytes,
      facts,
      expected
    )
    const answer = yield* send(url, { method: "HEAD", headers })
    assert.strictEqual(answer.bytes.length, 0, `HEAD, ${what}`)
    // `Range` is ignored here (14.2).
    if (expected === 304) assertUnmodified(`HEAD, ${what}`, answer, facts)
    else assertHeaders(`HEAD, ${what}`, answer, 200, bytes.length, facts)
  }
})

/** Headers that every response about a file repeats (15.3.7, 15.4.5). */
interface Facts {
  readonly etag: string
  readonly modified: string
}

const factsOf = ({ headers }: Client.Answer): Facts => {
  const facts = { etag: headers.get("etag") ?? "", modified: headers.get("last-modified") ?? "" }
  assert.match(facts.etag, /^"[\x21\x23-\x7e]+"$/)
  assert.strictEqual(new Date(facts.modified).toUTCString(), facts.modified)
  return facts
}

const filled = (text: string, { etag, modified }: Facts): string => {
  const movedBy = (seconds: number) => new Date(Date.parse(modified) + seconds * 1000).toUTCString()
  return text
    .replace("{etag}", etag)
    .replace("{modified}", modified)
    .replace("{earlier}", movedBy(-1))
    .replace("{later}", movedBy(1))
}

const assertExpected = (
  what: string,
  answer: Client.Answer,
  bytes: Uint8Array,
  facts: Facts,
  expected: Expected
) => {
  if (expected === "whole") assertWhole(what, answer, bytes, facts)
  else if (expected === 304) assertUnmodified(what, answer, facts)
  else if (expected === 416) assertUnsatisfiable(what, answer, bytes.length)
  else assertPart(what, answer, bytes, facts, expected)
}

const assertHeaders = (
  what: string,
  { headers, status }: Client.Answer,
  expected: 200 | 206,
  length: number,
  facts: Facts
) => {
  assert.strictEqual(status, expected, what)
  assert.strictEqual(headers.get("content-length"), String(length), what)
  assert.strictEqual(headers.get("accept-ranges"), "bytes", what)
  assert.strictEqual(headers.get("content-type"), "video/mp4", what)
  assertFacts(what, headers, facts)
  if (expected === 200) assert.isNull(headers.get("content-range"), what)
}

const assertFacts = (what: string, headers: Headers, { etag, modified }: Facts) => {
  assert.strictEqual(headers.get("etag"), etag, what)
  assert.strictEqual(headers.get("last-modified"), modified, what)
  assert.match(headers.get("cache-control") ?? "", /^private, max-age=\d+$/, what)
  assert.isNotNull(headers.get("date"), what)
}

const assertWhole = (what: string, answer: Client.Answer, bytes: Uint8Array, facts: Facts) => {
  assertHeaders(what, answer, 200, bytes.length, facts)
  assert.deepStrictEqual(answer.bytes, bytes, what)
}

const assertPart = (
  what: string,
  answer: Client.Answer,
  bytes: Uint8Array,
  facts: Facts,
  [first, last]: readonly [number, number]
) => {
  assertHeaders(what, answer, 206, last - first + 1, facts)
  assert.strictEqual(answer.headers.get("content-range"), `bytes ${first}-${last}/${bytes.length}`, what)
  assert.deepStrictEqual(answer.bytes, bytes.slice(first, last + 1), what)
}

/** Asserts that a response has no body and no header that describes one (15.4.5). */
const assertUnmodified = (what: string, { bytes, headers, status }: Client.Answer, facts: Facts) => {
  assert.deepStrictEqual([status, bytes.length], [304, 0], what)
  assertFacts(what, headers, facts)
  for (const name of ["content-type", "content-range", "content-length"]) assert.isNull(headers.get(name), what)
}

/** The client needs the length of the file to repeat the request (15.5.17). */
const assertUnsatisfiable = (what: string, answer: Client.Answer, length: number) => {
  assert.deepStrictEqual([answer.status, Client.errorCodeOf(answer)], [416, "range_not_satisfiable"], what)
  assert.strictEqual(answer.headers.get("content-range"), `bytes */${length}`, what)
  assert.strictEqual(answer.headers.get("content-type"), "application/json", what)
  assert.isNotNull(answer.headers.get("x-request-id"), what)
}
