import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Callbacks, Changes } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Wakeup } from "@kinora/scheduler"
import { TestDatabase } from "@kinora/testkit"
import { Wakeup as WebhookWakeup } from "@kinora/webhooks"
import { Context, Effect, Fiber, Latch, Layer, Queue, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Database from "../src/Database.ts"
import * as Notifications from "../src/Notifications.ts"

const layerDatabase = (url: string) => Database.layer({ url: Redacted.make(url), dataDirectory: "unused" })

/** Connects a separate process to the database. */
const startProcess = Effect.fnUntraced(
  function*(url: string, change: (pg: PgClient.PgClient) => Partial<PgClient.PgClient> = () => ({})) {
    const database = yield* Layer.build(Layer.fresh(layerDatabase(url)))
    const pg = Context.get(database, PgClient.PgClient)
    const hints = yield* Layer.build(Layer.fresh(Notifications.layer)).pipe(
      Effect.provideService(PgClient.PgClient, Object.assign(pg, change(pg)))
    )
    return {
      callbacks: Context.get(hints, Callbacks.Callbacks),
      changes: Context.get(hints, Changes.Changes),
      sql: pg,
      wakeup: Context.get(hints, Wakeup.Wakeup),
      webhookWakeup: Context.get(hints, WebhookWakeup.Wakeup)
    }
  }
)

/** Repeats a notification until it arrives, since the other process may not listen yet or be reconnecting. */
const repeatUntil = <A, E>(hint: Effect.Effect<void>, arrives: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const arrived = yield* Effect.forkChild(arrives, { startImmediately: true })
    while (arrived.pollUnsafe() === undefined) {
      yield* Effect.andThen(hint, Effect.timeoutOption(Fiber.await(arrived), "20 millis"))
    }
    yield* Fiber.join(arrived)
  })

it.effect("delivers notifications between processes, after lost connections and for thousands of ids", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const there = yield* startProcess(url)
    const latch = yield* there.wakeup.subscribe

    const bothArrive = Effect.gen(function*() {
      // New ones each time, since repeated notifications about the former ones can still arrive.
      const ids = yield* Effect.replicateEffect(GenerationId.make, 2_000)
      const changed = yield* there.changes.watch(ids.at(-1)!)
      const called = yield* there.callbacks.watch(ids.at(-1)!)
      yield* repeatUntil(here.changes.publish(ids), changed)
      assert.isFalse(called.isOpen())
      yield* repeatUntil(here.callbacks.publish(ids), called.await)
      yield* Latch.close(latch)
      yield* repeatUntil(here.wakeup.wake, latch.await)
    }).pipe(Effect.scoped)

    yield* bothArrive
    yield* here
      .sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`
    yield* bothArrive
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("continues to send and listen after the driver died with a defect", () =>
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

it.effect("wakes webhook senders in every process and no job workers", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const there = yield* startProcess(url)
    const work = yield* there.wakeup.subscribe
    const webhooks = yield* there.webhookWakeup.subscribe
    const wakeWebhooks = Effect.andThen(Latch.close(webhooks), repeatUntil(here.webhookWakeup.wake, webhooks.await))
    yield* repeatUntil(here.wakeup.wake, work.await)
    // Hints arrive in order, so every hint for jobs, such as that of the connection, precedes two more.
    yield* Effect.andThen(wakeWebhooks, wakeWebhooks)
    yield* Latch.close(work)
    yield* wakeWebhooks
    assert.isFalse(work.isOpen())
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("wakes the workers of the kinds that another process names, and all workers if there are too many", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const there = yield* startProcess(url)
    const image = yield* there.wakeup.subscribeTo(["image"])
    const video = yield* there.wakeup.subscribeTo(["video", "audio"])
    const text = yield* there.wakeup.subscribeTo(["text"])
    const wakeVideo = Effect.andThen(Latch.close(video), repeatUntil(here.wakeup.wakeFor(["video"]), video.await))
    // Hints arrive in order, so that of the connection, which wakes all, precedes two more.
    yield* Effect.andThen(wakeVideo, wakeVideo)
    yield* Effect.andThen(Latch.close(image), Latch.close(text))
    yield* wakeVideo
    assert.isFalse(image.isOpen())
    // Hints that are sent together name the kinds of both.
    const both = Effect.andThen(here.wakeup.wakeFor(["image"]), here.wakeup.wakeFor(["video"]))
    yield* Effect.andThen(Latch.close(video), repeatUntil(both, Effect.andThen(image.await, video.await)))

    const others = Array.from({ length: 100 }, (_, n) => `${n}-${"名".repeat(100)}`)
    assert.isFalse(text.isOpen())
    yield* repeatUntil(here.wakeup.wakeFor(others), text.await)
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("notifies waiting calls when the connection is lost, and completes their watches when it is replaced", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const mayConnect = yield* Latch.make(true)
    const here = yield* startProcess(url)
    const there = yield* startProcess(url, ({ listen }) => ({
      listen: (...args) => Effect.andThen(mayConnect.await, listen(...args))
    }))
    const id = yield* GenerationId.make
    yield* repeatUntil(here.changes.publish([id]), yield* there.changes.watch(id))
    const lost = yield* Effect.forkChild(there.changes.disconnected, { startImmediately: true })
    assert.isUndefined(lost.pollUnsafe())

    yield* mayConnect.close
    yield* here.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND datname = current_database()
    `
    yield* Fiber.join(lost)
    const missed = yield* there.changes.watch(id)
    yield* here.changes.publish([id])
    yield* mayConnect.open
    assert.isTrue(yield* missed)
    const lostAgain = yield* Effect.forkChild(there.changes.disconnected, { startImmediately: true })
    assert.isUndefined(lostAgain.pollUnsafe())
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("is compatible with earlier builds, which name no kinds of jobs", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const older = yield* Effect.map(Layer.build(Layer.fresh(layerDatabase(url))), Context.get(PgClient.PgClient))
    const heard = yield* older.listen("kinora")
    yield* here.wakeup.wakeFor(["image"])
    const { payload } = yield* Queue.take(heard)
    assert.isTrue((yield* Schema.decodeUnknownEffect(OlderHint)(payload)).work)

    const image = yield* here.wakeup.subscribeTo(["image"])
    const hint = yield* Schema.encodeEffect(OlderHint)({ from: "an older build", work: true, changed: [] })
    for (const _ of [1, 2]) {
      yield* Latch.close(image)
      yield* repeatUntil(Effect.orDie(older.notify("kinora", hint)), image.await)
    }
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

it.effect("is compatible with release 0.1, which has no webhooks", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const here = yield* startProcess(url)
    const older = yield* Effect.map(Layer.build(Layer.fresh(layerDatabase(url))), Context.get(PgClient.PgClient))
    const id = yield* GenerationId.make
    const heard = yield* older.listen("kinora")
    const receive = Effect.flatMap(Queue.take(heard), ({ payload }) => Schema.decodeUnknownEffect(OlderHint)(payload))
    yield* Effect.andThen(here.changes.publish([id]), here.webhookWakeup.wake)
    assert.deepStrictEqual((yield* receive).changed, [id])

    const changed = yield* here.changes.watch(id)
    const hint = yield* Schema.encodeEffect(OlderHint)({ from: "an older build", work: true, changed: [id] })
    yield* repeatUntil(Effect.orDie(older.notify("kinora", hint)), changed)
  }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto), TestClock.withLive))

/** Schema of release 0.1.0. */
const OlderHint = Schema.fromJsonString(Schema.Struct({
  from: Schema.String,
  work: Schema.Boolean,
  changed: Schema.Array(GenerationId.schema)
}))
