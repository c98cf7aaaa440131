import { it } from "@effect/vitest"
import { HotUpdates } from "@kinora/testkit"
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ApiKeys from "../src/ApiKeys.ts"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { makeKeys } from "../src/internal/contract/hosts.ts"
import * as Backend from "./Backend.ts"

it.live("records of uses and locks of owners change no index of keys and owners", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const host = yield* ApiKeys.make()
      const { lockOwner, noteUses } = yield* ApiKeyStore
      const made = yield* makeKeys(host, 400)
      const some = made.filter((_, n) => n % 4 === 0)
      const now = yield* DateTime.now
      const use = (minutes: number) =>
        noteUses(some.map(({ record: { id } }) => ({ key: id, at: DateTime.add(now, { minutes }) })))
      const lock = Effect.forEach(some, ({ owner }) => lockOwner(owner))
      yield* HotUpdates.verify({
        updates: { api_keys_key: 300, api_keys_owner: 300 },
        rounds: [1, 2, 3].map((minutes) => Effect.andThen(use(minutes), lock))
      })
    }).pipe(Effect.scoped, Effect.provide([Backend.over(database), SecureRandom.layerWebCrypto]))
  }).pipe(Effect.scoped))
