/** Values of services without types of Effect. */
import { type Brand, DateTime, Duration, Option, Redacted } from "effect"

/**
 * A value with `Date` in place of Effect's times, milliseconds in place of durations, `undefined` in place of `None`, the
 * text of a redacted one, and without brands.
 */
export type Plain<A> = A extends Date | DateTime.DateTime ? Date
  : A extends Duration.Duration ? number
  : A extends Option.Option<infer Value> ? Plain<Value> | undefined
  : A extends Redacted.Redacted<infer Value> ? Value
  : A extends Brand.Brand<string> ? Brand.Brand.Unbranded<A>
  : A extends string | number | bigint | boolean | null | undefined ? A
  : A extends ReadonlyMap<infer Key, infer Value> ? ReadonlyMap<Plain<Key>, Plain<Value>>
  : A extends ReadonlyArray<infer Element> ? ReadonlyArray<Plain<Element>>
  : { readonly [Name in keyof A]: Plain<A[Name]> }

/** Converts a result of a service. */
export const toPlain = <A>(value: A): Plain<A> => plainOf(value) as Plain<A>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const plainOf = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value
  // Before values of Effect, which are recognized by a property: JSON of callers can have any names.
  if (Object.getPrototypeOf(value) === Object.prototype) return fieldsOf(value)
  // An error is more than its fields: it has a message and a stack.
  if (value instanceof Error || value instanceof Date) return value
  if (DateTime.isDateTime(value)) return DateTime.toDateUtc(value)
  if (Duration.isDuration(value)) return Duration.toMillis(value)
  if (Option.isOption(value)) return plainOf(Option.getOrUndefined(value))
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (Array.isArray(value)) return value.map(plainOf)
  if (value instanceof Map) return new Map(Array.from(value, ([key, value]) => [plainOf(key), plainOf(value)] as const))
  return fieldsOf(value)
}

const fieldsOf = (value: object) =>
  Object.fromEntries(Object.entries(value).map(([name, value]) => [name, plainOf(value)]))
