/** Random JSON derived from a schema: valid values and odd ones. */
import type { JsonSchema } from "./Operations.ts"
import type { SeededRandom } from "./SeededRandom.ts"

/** Options of a value. */
export interface OddJsonOptions {
  readonly chance: SeededRandom
  /** Probability that a value violates its schema. With 0, all values are valid. */
  readonly oddness: number
  /** Texts that are meaningful to the service, by property name. */
  readonly known: Readonly<Record<string, ReadonlyArray<string>>>
}

/** Strings that programs often handle badly. */
export const oddStrings: ReadonlyArray<string> = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "🎨𝕳",
  "e\u0301\u200d\u202e\ufeff",
  "\u2028\r\n\t\b",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "1e309",
  "-0",
  "0x10",
  "true",
  "' OR 1=1 --",
  "\"; DROP TABLE x; --",
  "${7*7}{{7*7}}%s%n",
  "../../../etc/passwd",
  "data:image/png;base64,",
  "data:image/png;base64,####",
  "2026-02-30",
  "9".repeat(40),
  "é".repeat(3_000),
  "x".repeat(100_000)
]

/** JSON for a property of this name. It can violate the schema. */
export const write = (options: OddJsonOptions, schema: JsonSchema, name = ""): string => {
  const { chance, known, oddness } = options
  if (chance.happens(oddness)) return oddText(chance)
  const choices = variantsOf(schema)
  if (choices.length > 0) return write({ ...options, oddness: 0 }, chance.pick(choices), name)
  if ("const" in schema) return JSON.stringify(schema["const"])
  if (Array.isArray(schema["enum"])) return JSON.stringify(chance.pick<unknown>(schema["enum"]))
  const words = Object.hasOwn(known, name) ? known[name] ?? [] : []
  const type: unknown = Array.isArray(schema["type"]) ? chance.pick<unknown>(schema["type"]) : schema["type"]
  switch (type) {
    case "object":
      return writeObject(options, schema)
    case "array":
      return `[${
        Array.from({ length: chance.int(0, 2) }, () => write(options, schemaIn(schema["items"]), name)).join()
      }]`
    case "integer":
    case "number":
      return words.length > 0
        ? chance.pick(words)
        : String(chance.int(numberIn(schema["minimum"], 0), numberIn(schema["maximum"], 20)))
    case "boolean":
      return String(chance.happens(0.5))
    case "null":
      return "null"
    default:
      return JSON.stringify(words.length > 0 ? chance.pick(words) : "text")
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const writeObject = (options: OddJsonOptions, schema: JsonSchema): string => {
  const { chance, oddness } = options
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const members = Object.entries(schemaIn(schema["properties"])).flatMap(([name, property]) => {
    const isLeftOut = required.includes(name) ? chance.happens(oddness / 2) : chance.happens(0.8)
    return isLeftOut ? [] : [member(name, write(options, schemaIn(property), name))]
  })
  if (chance.happens(oddness)) members.push(member(chance.pick(oddStrings.slice(0, 22)), oddText(chance)))
  const repeated = members[0]
  if (repeated !== undefined && chance.happens(oddness / 2)) members.push(repeated)
  return `{${members.join()}}`
}

const member = (name: string, text: string) => `${JSON.stringify(name)}:${text}`

const oddText = (chance: SeededRandom): string =>
  chance.pick<() => string>([
    () => JSON.stringify(chance.pick(oddStrings)),
    () => chance.pick(oddNumbers),
    () => chance.pick(["null", "true", "false", "[]", "{}", "[null]", "[[]]", "{\"\":{}}"]),
    () => chance.pick(["{\"__proto__\":{\"admin\":true}}", "{\"constructor\":{\"prototype\":1}}", "{\"toString\":1}"]),
    () => {
      const depth = chance.pick([5, 33, 500, 20_000])
      return chance.happens(0.5)
        ? `${"[".repeat(depth)}${"]".repeat(depth)}`
        : `${"{\"a\":".repeat(depth)}1${"}".repeat(depth)}`
    },
    () => `[${Array.from({ length: chance.pick([3, 200, 5_000]) }, () => chance.pick(oddNumbers)).join()}]`
  ])()

const oddNumbers = [
  "0",
  "-0",
  "-1",
  "1.5",
  "1e400",
  "-1e400",
  "1e-400",
  "2147483648",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1"
]

const variantsOf = (schema: JsonSchema): ReadonlyArray<JsonSchema> =>
  ["anyOf", "oneOf"].flatMap((keyword) => {
    const variants = schema[keyword]
    return Array.isArray(variants) ? variants.map(schemaIn) : []
  })

const schemaIn = (value: unknown): JsonSchema => typeof value === "object" && value !== null ? { ...value } : {}

const numberIn = (value: unknown, fallback: number): number => typeof value === "number" ? value : fallback
