/** Calls, each written once: both the promises and the effects of a client derive from its definitions. */

/** Kind of a call: one value, several items one after the other, or a file. */
type Kind = "value" | "items" | "file"

/** A call of the client. */
export interface Definition<Call> {
  readonly kind: Kind
  /** Number of arguments before the options. */
  readonly argumentCount: number
  /** Runs it as a promise or an async iterable. */
  readonly run: Call
}

/** Definitions of all calls of an API, by group. */
export type Definitions<Api> = { readonly [Group in keyof Api]: GroupDefinitions<Api[Group]> }

type GroupDefinitions<Group> = { readonly [Name in keyof Group]: Definition<Group[Name]> }

/** Defines a call that returns one value. */
export const value = <Call extends (...all: never) => Promise<unknown>>(
  argumentCount: number,
  run: Call
): Definition<Call> => ({ kind: "value", argumentCount, run })

/** Defines a call that returns items one after the other. */
export const items = <Call extends (...all: never) => AsyncIterable<unknown>>(
  argumentCount: number,
  run: Call
): Definition<Call> => ({ kind: "items", argumentCount, run })

/** Defines a call that returns a file. */
export const file = <Call extends (...all: never) => Promise<Response>>(
  argumentCount: number,
  run: Call
): Definition<Call> => ({ kind: "file", argumentCount, run })

/** The calls as promises and async iterables. */
export const promises = <Api extends object>(definitions: Definitions<Api>): Api =>
  // Each definition holds the call of its own name.
  mapCalls(definitions, ({ run }) => run) as Api

/** Applies a function to every definition, under the same names. */
export const mapCalls = (
  definitions: object,
  face: (definition: Definition<Run>) => unknown
): Readonly<Record<string, unknown>> =>
  mapValues(definitions, (group) => mapValues(group, (definition) => face(definition as Definition<Run>)))

/** A call whose types are known to its callers only. */
export type Run = (...all: ReadonlyArray<unknown>) => Promise<unknown> | AsyncIterable<unknown>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const mapValues = (values: object, map: (value: object) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
