import { it } from "@effect/vitest"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { HotUpdates } from "@kinora/testkit"
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { AccountStore } from "../src/AccountStore.ts"
import * as KeySpending from "../src/KeySpending.ts"
import * as SqlAccountStore from "../src/SqlAccountStore.ts"
import { makeAccount, makeHost } from "./Hosts.ts"

it.live("deposits, uses of keys and their spending change no index", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const host = yield* makeHost()
      const { noteUses, saveUse } = yield* AccountStore
      const budget = { jobsPerDay: Option.some(1_000) }
      const made = yield* Effect.forEach(Array.from({ length: 400 }), () =>
        Effect.gen(function*() {
          const { id } = yield* makeAccount(host)
          const { record } = yield* host.createKey(id, "test", {}, budget)
          return { account: id, key: record.id, line: record.line }
        }))
      const some = made.filter((_, n) => n % 4 === 0)
      const now = yield* DateTime.now
      const day = KeySpending.dayOf(now)
      const spend = (keys: typeof made, jobs: number) =>
        saveUse(keys.map(({ line }) => ({ line, day, credits: jobs, jobs })))
      yield* spend(made, 1)

      const round = Effect.fnUntraced(function*(n: number) {
        yield* Effect.forEach(some, ({ account }) => host.deposit(account, { cents: 100, reference: `${n}` }))
        yield* noteUses(some.map(({ key }) => ({ key, at: DateTime.add(now, { minutes: n }) })))
        yield* spend(some, n)
      })
      yield* HotUpdates.verify({
        updates: { accounts_account: 300, accounts_key: 300, accounts_key_spending: 300 },
        rounds: [1, 2, 3].map(round)
      })
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(SqlAccountStore.layer, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
          Layer.provideMerge(Migrations.layer(SqlAccountStore.migrations)),
          Layer.provideMerge(database)
        )
      )
    )
  }).pipe(Effect.scoped))
