/** Random requests derived from an OpenAPI document: valid ones, and ones that are wrong in one or several ways. */
import * as OddJson from "./OddJson.ts"
import * as Operations from "./Operations.ts"
import type { BytesRequest } from "./RawHttp.ts"
import type { SeededRandom } from "./SeededRandom.ts"

/** Values that requests are made from. */
export interface FuzzingOptions {
  readonly operations: ReadonlyArray<Operations.Operation>
  /** The valid value of `Authorization`. */
  readonly authorization: string
  /** Other values of `Authorization`. */
  readonly strangers: ReadonlyArray<string>
  /**
   * Texts that are meaningful to the service, by property or parameter name, or as `models.id` for one in a path. Can
   * grow.
   */
  readonly known: Readonly<Record<string, ReadonlyArray<string>>>
  /** A file for operations that accept one. */
  readonly file: Uint8Array
}

/** A request and its origin. */
export interface Fuzzed {
  readonly request: BytesRequest
  /** The operation that the request reaches if it is authenticated, or `undefined` if that is uncertain. */
  readonly operation: Operations.Operation | undefined
}

/** Creates the next request. */
export const next = (options: FuzzingOptions, chance: SeededRandom): Fuzzed => {
  const operation = chance.pick(options.operations)
  const method = chance.happens(0.04) ? chance.pick(oddMethods) : operation.method
  const path = pathOf(operation, options, chance)
  const headers = headersOf(operation, options, chance)
  const content = contentOf(operation, options, chance)
  return {
    request: {
      method,
      target: `${path.text}${queryOf(operation, options, chance)}`,
      headers: [...headers, ...content.headers],
      body: content.body
    },
    operation: method === operation.method && path.isAimed ? operation : undefined
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const oddMethods = ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "POST", "GET", "PROPFIND", "get", "B REW", ""]

const pathOf = (operation: Operations.Operation, { known }: FuzzingOptions, chance: SeededRandom) => {
  if (chance.happens(0.03)) {
    return {
      text: chance.pick([...oddPaths, `/${chance.pick(oddSegments)}`, `/v1/${chance.pick(oddSegments)}`]),
      isAimed: false
    }
  }
  let isAimed = true
  const values: Record<string, string> = {}
  for (const { in: place, name } of operation.parameters) {
    if (place !== "path") continue
    // The segment before an id names its resource.
    const owner = new RegExp(`(\\w+)/\\{${name}\\}`).exec(operation.path)?.[1] ?? ""
    const choices = wordsOf(known, `${owner}.${name}`, wordsOf(known, name))
    if (choices.length > 0 && chance.happens(0.75)) values[name] = percentEncoded(chance.pick(choices))
    else if (chance.happens(0.5)) values[name] = percentEncoded(chance.pick(OddJson.oddStrings).slice(0, 3_000)) || "x"
    else {
      values[name] = chance.pick(oddSegments)
      isAimed = false
    }
  }
  return { text: Operations.fill(operation, values), isAimed }
}

const oddPaths = [
  "/",
  "*",
  "//",
  "/v1",
  "/v1/",
  "/v1//generations",
  "/V1/models",
  "/v1/models/",
  "/v2/models",
  "http://x/v1/models"
]

/** Headers as they are sent. */
const oddSegments = [
  "",
  ".",
  "..",
  "%",
  "%zz",
  "%ff",
  "%00",
  "%2e%2e%2f",
  "a%2Fb",
  "a;b=c",
  ":id",
  "*",
  "a b",
  "\x01",
  "\xff\xfe",
  "[]",
  "gen_%30",
  "x".repeat(5_000),
  "x".repeat(40_000)
]

const queryOf = (operation: Operations.Operation, { known }: FuzzingOptions, chance: SeededRandom): string => {
  const parts: Array<string> = []
  for (const { in: place, name, schema } of operation.parameters) {
    if (place !== "query" || chance.happens(0.5)) continue
    const times = chance.happens(0.05) ? 2 : 1
    for (let time = 0; time < times; time++) parts.push(`${name}=${valueOf(name, schema, known, chance)}`)
  }
  if (chance.happens(0.08)) parts.push(chance.pick(oddQueries))
  return parts.length === 0 ? "" : `?${parts.join("&")}`
}

const oddQueries = [
  "",
  "&&",
  "=",
  "a",
  "a=%",
  "%zz=1",
  "__proto__=1",
  "a[]=1&a[]=2",
  "?",
  "x=\x01",
  `x=${"y".repeat(9_000)}`
]

/** A value of a parameter, percent-encoded unless it is meant to be malformed. */
const valueOf = (
  name: string,
  schema: Operations.JsonSchema,
  known: FuzzingOptions["known"],
  chance: SeededRandom
): string => {
  if (chance.happens(0.3)) return chance.happens(0.3) ? chance.pick(["%", "%f", "+", "%00"]) : oddValue(chance)
  const text = OddJson.write({ chance, oddness: 0, known }, schema, name)
  return percentEncoded(text.startsWith("\"") ? String(JSON.parse(text)) : text)
}

const oddValue = (chance: SeededRandom) => percentEncoded(chance.pick(OddJson.oddStrings).slice(0, 2_000))

const headersOf = (
  operation: Operations.Operation,
  { authorization, known, strangers }: FuzzingOptions,
  chance: SeededRandom
): ReadonlyArray<readonly [string, string]> => {
  const headers: Array<readonly [string, string]> = []
  if (chance.happens(0.92)) headers.push(["authorization", authorization])
  else if (chance.happens(0.5)) headers.push(["authorization", chance.pick([...strangers, ...oddCredentials])])
  for (const { in: place, name, schema } of operation.parameters) {
    if (place !== "header" || chance.happens(0.5)) continue
    const times = chance.happens(0.1) ? 2 : 1
    for (let time = 0; time < times; time++) {
      const isOdd = chance.happens(0.3)
      const text = isOdd ? chance.pick(OddJson.oddStrings).slice(0, 2_000) : chance.pick(wordsOf(known, name, ["text"]))
      headers.push([name, inHeader(text, schema)])
    }
  }
  if (chance.happens(0.1)) headers.push(["x-request-id", inHeader(chance.pick(OddJson.oddStrings).slice(0, 400), {})])
  if (chance.happens(0.1)) headers.push(chance.pick(oddHeaders))
  return headers
}

const oddCredentials = [
  "",
  "Bearer",
  "Bearer ",
  "Basic eDp5",
  "bearer x",
  "Bearer kin_",
  `Bearer ${"x".repeat(9_000)}`,
  "\xff"
]

const oddHeaders: ReadonlyArray<readonly [string, string]> = [
  ["accept", "text/nothing;q=0"],
  ["accept-encoding", "gzip;q=2, *"],
  ["transfer-encoding", "gzip"],
  ["content-length", "-1"],
  ["content-encoding", "gzip"],
  ["host", "x/../y"],
  ["host", ""],
  ["x-forwarded-for", "'"],
  ["x-forwarded-proto", "javascript"],
  ["cookie", "a=b"],
  ["origin", "null"],
  ["upgrade", "websocket"],
  ["expect", "the unexpected"],
  ["", "no name"],
  ["a b", "space"],
  ["x-null", "a\0b"],
  ["x-large", "y".repeat(30_000)]
]

/** A header has no control characters, and only Latin-1. */
const inHeader = (text: string, _: Operations.JsonSchema): string => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, "?")

interface Content {
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: string | Uint8Array | undefined
}

const contentOf = (operation: Operations.Operation, options: FuzzingOptions, chance: SeededRandom): Content => {
  if (operation.bodies.length === 0) {
    return chance.happens(0.1) ? { headers: [["content-type", "application/json"]], body: "{}" } : nothing
  }
  const { mime, schema } = chance.pick(operation.bodies)
  const made = bodyOf(mime, schema, options, chance)
  const type = chance.happens(0.06) ? chance.pick(oddTypes) : made.type
  return { headers: type === "" ? [] : [["content-type", type]], body: damaged(made.body, chance) }
}

const nothing: Content = { headers: [], body: undefined }

const bodyOf = (mime: string, schema: Operations.JsonSchema, { file, known }: FuzzingOptions, chance: SeededRandom) => {
  if (mime === "application/json") {
    const oddness = chance.pick([0, 0, 0.05, 0.2])
    return { type: mime, body: Buffer.from(OddJson.write({ chance, oddness, known }, schema)) }
  }
  if (mime !== "multipart/form-data") return { type: mime, body: Buffer.from(file) }
  const name = chance.pick(["file", "file", "other", ""])
  const head = `--limit\r\nContent-Disposition: form-data; name="${name}"; filename="${
    chance.pick(["a.png", "", "../a", "a\"b"])
  }"\r\n`
  const part = Buffer.concat([Buffer.from(`${head}Content-Type: image/png\r\n\r\n`), file, Buffer.from("\r\n")])
  const parts = Array.from({ length: chance.pick([1, 1, 1, 0, 2, 30]) }, () => part)
  return { type: `${mime}; boundary=limit`, body: Buffer.concat([...parts, Buffer.from("--limit--\r\n")]) }
}

const oddTypes = [
  "",
  "text/plain",
  "application/json; charset=utf-16",
  "application/json;",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "image/svg+xml",
  "*/*",
  "/",
  "application/json, text/plain"
]

/** The body, possibly truncated. */
const damaged = (body: Buffer, chance: SeededRandom): Uint8Array => {
  if (chance.happens(0.85)) return body
  return chance.pick([
    () => body.subarray(0, chance.int(0, body.length)),
    () => Buffer.from(""),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
    () => Buffer.concat([body, Buffer.from("}")]),
    () => Buffer.from(Array.from({ length: 64 }, () => chance.int(0, 255))),
    () => Buffer.from(body.toString("latin1").replace(/[a-z]/, "\xff"), "latin1"),
    () => Buffer.from(body.toString(), "utf16le")
  ])()
}

const wordsOf = (
  known: FuzzingOptions["known"],
  name: string,
  fallback: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const words = Object.hasOwn(known, name) ? known[name] ?? [] : []
  return words.length > 0 ? words : fallback
}

/** Encodes any text, including lone surrogates. */
const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[\w.~-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`
  }).join("")
