/** Hosts over the store of a suite, and what tests do with them. */
import { Effect, Option, Queue, type Redacted } from "effect"
import * as ApiKeys from "../src/ApiKeys.ts"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import type { Failure } from "../src/Keys.ts"

type Host = ApiKeys.ApiKeys["Service"]

/** One host over the store of the suite. */
export const makeHost = ApiKeys.make

/** The store, with a record of what it was asked and a way to meddle. */
export const makeSpy = Effect.fnUntraced(function*(meddle: Partial<ApiKeyStore["Service"]> = {}) {
  const store = yield* ApiKeyStore
  const lookUps: Array<ReadonlyArray<string>> = []
  const writes: Array<ReadonlyArray<string>> = []
  const written = yield* Queue.unbounded<void>()
  const spied: ApiKeyStore["Service"] = {
    ...store,
    ...meddle,
    findActive: (hashes) => {
      lookUps.push(hashes)
      return (meddle.findActive ?? store.findActive)(hashes)
    },
    noteUses: (uses) => {
      writes.push(uses.map(({ key }) => key))
      return Effect.onExit((meddle.noteUses ?? store.noteUses)(uses), () => Queue.offer(written, undefined))
    }
  }
  const host = (options?: ApiKeys.ApiKeysOptions) => Effect.provideService(makeHost(options), ApiKeyStore, spied)
  return { host, lookUps, writes, written: Queue.take(written) }
})

let ownersMade = 0

/** Returns an owner that no other test has. */
export const makeOwner = () => `owner ${++ownersMade}`

export const makeKey = Effect.fnUntraced(function*(host: Host) {
  const owner = makeOwner()
  const { key, record } = yield* host.create({ owner, name: "test" })
  return { owner, key, record }
})

export const makeKeys = (host: Host, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => makeKey(host))

export const reasonOf = <A>(effect: Effect.Effect<A, Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "ApiKeysError" ? error.reason._tag : error._tag)

export const isKnown = (host: Host, key: Redacted.Redacted) => Effect.map(host.verify(key), Option.isSome)
