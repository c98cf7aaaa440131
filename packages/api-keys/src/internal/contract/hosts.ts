/** Hosts over the store of a suite, and what tests do with them. */
import { DateTime, type Duration, Effect, Option, type Redacted } from "effect"
import * as ApiKeys from "../../ApiKeys.ts"
import type { Failure } from "../../Keys.ts"

type Host = ApiKeys.ApiKeys["Service"]

/** One host over the store of the suite. */
export const makeHost = ApiKeys.make

/** Returns an owner that no other test has. */
export const makeOwner = () => `owner ${++ownersMade}`

/** Creates a key of a new owner. */
export const makeKey = Effect.fnUntraced(function*(host: Host) {
  const owner = makeOwner()
  const { key, record } = yield* host.create({ owner, name: "test" })
  return { owner, key, record }
})

/** Creates keys of new owners. */
export const makeKeys = (host: Host, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => makeKey(host))

/** Returns the reason of a refusal. */
export const reasonOf = <A>(effect: Effect.Effect<A, Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "ApiKeysError" ? error.reason._tag : error._tag)

/** Returns whether a host accepts a key. */
export const isKnown = (host: Host, key: Redacted.Redacted) => Effect.map(host.verify(key), Option.isSome)

/** Returns the names of the keys that a host lists. */
export const namesOf = (host: Host, owner: string) =>
  Effect.map(host.list(owner), (keys) => keys.map(({ name }) => name))

/** Returns the time after a duration. */
export const hence = (duration: Duration.Input) => Effect.map(DateTime.now, DateTime.addDuration(duration))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let ownersMade = 0
