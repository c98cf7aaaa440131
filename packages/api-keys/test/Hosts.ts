/** Hosts over a store that is observed. */
import { Effect, Queue } from "effect"
import type * as ApiKeys from "../src/ApiKeys.ts"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { makeHost } from "../src/internal/contract/hosts.ts"

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
