import { it } from "@effect/vitest"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { HotUpdates } from "@kinora/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { OperatorStore } from "../src/OperatorStore.ts"
import * as SqlOperatorStore from "../src/SqlOperatorStore.ts"
import { makeHost } from "./Hosts.ts"

it.live("records of uses change no index of operators", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const host = yield* makeHost()
      const { noteUse } = yield* OperatorStore
      const operators = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => `operator ${n}`),
        (name) => host.create({ name, role: "support" })
      )
      const now = yield* DateTime.now
      const useSome = (minutes: number) =>
        Effect.forEach(
          operators.filter((_, n) => n % 4 === minutes % 4),
          ({ operator }) => noteUse(operator.id, DateTime.add(now, { minutes }))
        )
      yield* HotUpdates.verify({
        updates: { operators_operator: 200 },
        rounds: Array.from({ length: 40 }, (_, n) => useSome(n + 1))
      })
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(SqlOperatorStore.layer, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
          Layer.provideMerge(Migrations.layer(SqlOperatorStore.migrations)),
          Layer.provideMerge(database)
        )
      )
    )
  }).pipe(Effect.scoped))
