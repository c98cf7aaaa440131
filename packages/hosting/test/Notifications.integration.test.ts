import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Changes } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Wakeup } from "@kinora/scheduler"
import { TestDatabase } from "@kinora/testkit"
import { Context, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Database from "../src/Database.ts"
import * as Notifications from "../src/Notifications.ts"

/** A process of its own on the database. */
const startProcess = Effect.fnUntraced(
  function*(url: string, change: (pg: PgClient.PgClient) => Partial<PgClient.PgClient> = () => ({})) {
    const database = yield* Layer.build(
      Layer.fresh(Database.layer({ url: Redacted.make(url), dataDirectory: "unused" }))
    )
    const pg = Context.get(database, PgClient.PgClient)
    const hints = yield* Layer.build(Layer.fresh(Notifications.layer)).pipe(
      Effect.provideService(PgClient.PgClient, Object.assign(pg, change(pg)))
    )
    return { changes: Context.get(hints, Changes.Changes), sql: pg, wakeup: Context.get(hints, Wakeup.Wakeup) }
  }
)

/** Repeats a hint until it has arrived: the other process may not listen yet, or not again. */
const repeatUntil = <A, E>(hint: Effect.Effect<void>, arrives: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const arrived = yield* Effect.forkChild(arrives, { startImmediately: true })
    while (arrived.pollUnsafe() === undefined) {
      yield* Effect.andThen(hint, Effect.timeoutOption(Fiber.await(arrived), "20 millis"))
    }
    yield* Fiber.join(arrived)
  })

it.effect("carries hints between processes, also after their connections were lost and for thousands of ids", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const there = yield* startProcess(url)
    const ids = yield* Effect.replicateEffect(GenerationId.make, 2_000)
    const latch = yield* there.wakeup.subscribe

    const bothArrive = Effect.gen(function*() {
      const changed = yield* there.changes.watch(ids.at(-1)!)
      yield* repeatUntil(here.changes.publish(ids), changed)
      yield* Latch.close(latch)
      yield* repeatUntil(here.wakeup.wake, latch.await)
    }).pipe(Effect.scoped)

    yield* bothArrive
    yield* here
      .sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`
    yield* bothArrive
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("goes on sending and listening when the driver dies instead of failing", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    let deaths = 0
    const dieOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      let isFirst = true
      return Effect.suspend(() => {
        if (!isFirst) return effect
        isFirst = false
        deaths++
        return Effect.die("bug")
      })
    }
    const notifyOnce = dieOnce(Effect.void)
    const here = yield* startProcess(url, ({ notify }) => ({
      notify: (...args) => Effect.andThen(notifyOnce, notify(...args))
    }))
    const listenOnce = dieOnce(Effect.void)
    const there = yield* startProcess(url, ({ listen }) => ({
      listen: (...args) => Effect.andThen(listenOnce, listen(...args))
    }))
    const latch = yield* there.wakeup.subscribe
    yield* repeatUntil(here.wakeup.wake, latch.await)
    assert.strictEqual(deaths, 2)
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))
