/** Checks the input of promise APIs, whose callers may not have types. */
import { Duration, Option } from "effect"

/** The type of a value. */
type Type = "array" | "boolean" | "Date" | "duration" | "function" | "number" | "object" | "string"

/** The type of a field. With `?` it may be missing. */
export type FieldType = Type | `${Type}?`

/** The type of each field of an object. Others are not checked. */
type Fields<Input> = {
  readonly [Name in keyof Required<Input>]?: {} extends Pick<Input, Name> ? `${Type}?` : FieldType
}

/** The first argument of a method: an object with these fields, an array of them, or a value. */
type Expected<Input> = Input extends ReadonlyArray<infer Item> ?
  readonly [Item extends object ? Fields<Item> : FieldType]
  : Input extends object ? Fields<Input>
  : FieldType

/** The methods of an API whose first argument is checked. */
export type Inputs<Api> = {
  readonly [
    Method in keyof Api as Api[Method] extends (input: infer Input, ...others: ReadonlyArray<never>) => Promise<unknown>
      ? Input extends undefined ? never : Method
      : never
  ]?: Api[Method] extends (input: infer Input, ...others: ReadonlyArray<never>) => unknown
    ? Expected<NonNullable<Input>>
    : never
}

/**
 * Returns the API with methods that reject with a `TypeError` if their first argument is not what they expect. The error names the
 * method, the field and the expected type, and not the value, which may be a secret.
 */
export const checkInputs = <Api extends object>(api: Api, inputs: Inputs<Api>): Api => {
  const checked = Object.entries(inputs).map(([name, expected]) => {
    const method = Reflect.get(api, name) as (...args: ReadonlyArray<unknown>) => Promise<unknown>
    return [name, async (...args: ReadonlyArray<unknown>) => {
      check(name, expected as AnyExpected, args[0])
      return method(...args)
    }]
  })
  return Object.assign(api, Object.fromEntries(checked))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type AnyFields = Readonly<Record<string, FieldType>>

type AnyExpected = FieldType | AnyFields | readonly [FieldType | AnyFields]

const check = (method: string, expected: AnyExpected, input: unknown): void => {
  if (!isList(expected)) return checkOne(`the argument of ${method}`, method, expected, input)
  if (!Array.isArray(input)) throw wrong(`the argument of ${method}`, "an array", input)
  for (const [index, item] of input.entries()) {
    const place = `item ${index} of ${method}`
    checkOne(place, place, expected[0], item)
  }
}

const isList = (expected: AnyExpected): expected is readonly [FieldType | AnyFields] => Array.isArray(expected)

const checkOne = (what: string, method: string, expected: FieldType | AnyFields, input: unknown): void => {
  if (typeof expected === "string") return checkValue(what, expected, input)
  checkValue(what, "object", input)
  for (const [name, type] of Object.entries(expected)) {
    checkValue(`${name} of ${method}`, type, Reflect.get(Object(input), name))
  }
}

const checkValue = (what: string, expected: FieldType, value: unknown): void => {
  const isOptional = expected.endsWith("?")
  if (isOptional && value === undefined) return
  const type = (isOptional ? expected.slice(0, -1) : expected) as Type
  if (!tests[type](value)) throw wrong(what, names[type], value)
}

const tests: Readonly<Record<Type, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === "boolean",
  // An invalid one is for the rules of the service.
  Date: (value) => value instanceof Date,
  duration: (value) => Option.isSome(Duration.fromInput(value as Duration.Input)),
  function: (value) => typeof value === "function",
  number: (value) => typeof value === "number" && !Number.isNaN(value),
  object: (value) => typeof value === "object" && value !== null,
  string: (value) => typeof value === "string"
}

const names: Readonly<Record<Type, string>> = {
  array: "an array",
  boolean: "a boolean",
  Date: "a Date",
  duration: "a duration such as \"10 seconds\" or a number of milliseconds",
  function: "a function",
  number: "a number",
  object: "an object",
  string: "a string"
}

const wrong = (what: string, expected: string, value: unknown): TypeError =>
  new TypeError(`Expected ${what} to be ${expected}, got ${typeNameOf(value)}`)

const typeNameOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (value instanceof Date) return "a Date"
  if (Array.isArray(value)) return "an array"
  return Number.isNaN(value) ? "NaN" : `a ${typeof value}`.replace("a object", "an object")
}
