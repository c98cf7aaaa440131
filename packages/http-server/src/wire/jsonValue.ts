/** Parses JSON texts whose long strings would occupy the process for too long if they were parsed at once. */
import { Effect } from "effect"
import { defaultDivision, type LongString } from "./jsonStructure.ts"
import { pieceEnd } from "./pieces.ts"

/**
 * Returns the value of a JSON text in UTF-8, as `JSON.parse` does, or `undefined` for an empty text. Fails with
 * `Malformed` if it is invalid. `longStrings` are those that `measure` found in the text. They are parsed in pieces.
 */
export const parse = Effect.fnUntraced(function*(
  text: Uint8Array,
  longStrings: ReadonlyArray<LongString>,
  { pieceMax, shortStringMax } = defaultDivision
) {
  if (longStrings.length === 0) {
    const all = decode(text)
    return all === "" ? undefined : yield* parseJson(all)
  }
  // No other value in the rest is a string as long as those that stand for the long ones.
  const standInLength = shortStringMax + 1
  const values: Array<string> = []
  let rest = ""
  let at = 0
  for (const { end, start } of longStrings) {
    rest += decode(text.subarray(at, start)) + String(values.length).padStart(standInLength, "0")
    values.push(yield* parseString(text.subarray(start, end), pieceMax))
    at = end
  }
  return yield* parseJson(
    rest + decode(text.subarray(at)),
    (_, value) => typeof value === "string" && value.length === standInLength ? values[Number(value)] : value
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// A byte order mark has a meaning at the start of a text only, where it is removed. Nothing else begins with one, except
// for pieces of strings.
const decoder = new TextDecoder()
const pieceDecoder = new TextDecoder("utf-8", { ignoreBOM: true })

const decode = (text: Uint8Array): string => decoder.decode(text)

const parseJson = (text: string, reviver?: (key: string, value: unknown) => unknown) =>
  Effect.try({ try: (): unknown => JSON.parse(text, reviver), catch: () => "Malformed" as const })

/** Parses a string without its quotes. */
const parseString = Effect.fnUntraced(function*(content: Uint8Array, pieceMax: number) {
  let value = ""
  for (let from = 0; from < content.length;) {
    const end = pieceEnd(content, from, pieceMax)
    value += yield* parseJson(`"${pieceDecoder.decode(content.subarray(from, end))}"`)
    from = end
    yield* Effect.yieldNow
  }
  return value
})
