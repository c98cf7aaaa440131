/** Records of failed sign-ins in a database, whose units lock the counters. */
import { assert, it } from "@effect/vitest"
import { AuditLog } from "@kinora/operators"
import { StorageError } from "@kinora/persistence/StorageError"
import { RateLimit } from "@kinora/rate-limit"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AuditActions from "../src/AuditActions.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

for (const [name, database] of TestDatabase.all) {
  it.effect(`records one of concurrent failed sign-ins of each address, and counts none whose entry is not stored (${name})`, () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Host.startedAt.epochMilliseconds)
      const log = yield* AuditLog.AuditLog
      const { peek } = yield* RateLimit.RateLimit
      let isDown = true
      const failure = new StorageError({ operation: "test", reason: "unavailable", cause: undefined })
      const send = yield* Effect.provideService(
        Host.start(),
        AuditLog.AuditLog,
        AuditLog.AuditLog.of({ ...log, append: (change) => isDown ? Effect.fail(failure) : log.append(change) })
      )
      const attempt = (from: string) =>
        send("POST", Browsers.session, { headers: Browsers.samePage, body: { code: "f".repeat(64) }, from })
      const left = Effect.map(
        peek({ key: "failed-sign-in", limit: 1_000, window: "1 hour" }),
        ({ remaining }) => remaining
      )

      errorOf(yield* attempt("203.0.113.9"), "unavailable")
      assert.strictEqual(yield* left, 1_000)
      isDown = false
      const addresses = Array.from({ length: 10 }, (_, index) => `203.0.113.${10 + index}`)
      yield* Effect.forEach([...addresses, ...addresses, ...addresses], attempt, { concurrency: "unbounded" })
      const entries = yield* log.list({ action: AuditActions.failedSignIn, limit: 100 })
      assert.deepStrictEqual(entries.map(({ address }) => address).toSorted(), addresses)
      assert.strictEqual(yield* left, 990)
    }).pipe(Effect.scoped, Effect.provide(Host.layerSql(database))))
}
