import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { makeClockBehind, makeGate, makeWorld, memory, ok, signatureOf, signedWith, status500 } from "./SendingWorld.ts"

describe("DeliveryWorker under faults", () => {
  it.effect("retries to store an outcome while the database is unavailable, without another send", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      world.faults.settle = 8
      const id = yield* world.publish(endpoint)
      yield* world.call
      // Long after the lease has ended.
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      yield* world.settled
      assert.deepInclude(yield* world.find(endpoint, id), { status: "delivered", failedSends: 0 })
      assert.strictEqual(yield* Queue.size(world.calls), 0)
      assert.strictEqual((yield* world.log(endpoint)).length, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("continues after failed claims and polls when the database is available again", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      world.faults.due = 2
      world.faults.claim = 3
      yield* world.start()
      const endpoint = yield* world.endpoint()
      const id = yield* world.publish(endpoint)
      const waiting = yield* Effect.forkChild(world.call)
      while (waiting.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).delivery, id)
      const { send } = yield* world.settled
      assert.strictEqual(send?.attempt, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("pauses between claims while the transaction of another worker holds the due deliveries", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start({ lookPause: 0 })
      const endpoint = yield* world.endpoint()
      world.faults.isHeld = true
      const id = yield* world.publish(endpoint)
      for (let tenth = 0; tenth < 20; tenth++) {
        yield* TestClock.adjust("100 millis")
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
      }
      assert.isAtLeast(world.count.claim, 2)
      assert.isAtMost(world.count.claim, 25)
      world.faults.isHeld = false
      const waiting = yield* Effect.forkChild(world.call)
      while (waiting.pollUnsafe() === undefined) yield* TestClock.adjust("100 millis")
      assert.strictEqual((yield* Fiber.join(waiting)).delivery, id)
    }).pipe(Effect.provide(memory)))

  it.effect("sends at most 5 times regardless of crashes", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, () => Effect.succeed(status500))
      const id = yield* world.publish(endpoint)
      // Two workers crash with the delivery claimed. It is unknown whether they sent it.
      for (let crash = 0; crash < 2; crash++) {
        const now = yield* DateTime.now
        const lease = DateTime.add(now, { seconds: 30 })
        const claimed = yield* world.store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], now, lease)
        assert.strictEqual(claimed.length, 1)
        yield* TestClock.adjust("30 seconds")
      }
      yield* world.start()
      for (const pause of [0, 10, 60]) {
        yield* TestClock.adjust(`${pause} seconds`)
        yield* world.call
        yield* world.settled
      }
      assert.deepInclude(yield* world.find(endpoint, id), { status: "failed", failedSends: 3 })
    }).pipe(Effect.provide(memory)))

  it.effect("fails a delivery after five crashes without another send", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const id = yield* world.publish(endpoint)
      for (let crash = 0; crash < 5; crash++) {
        const now = yield* DateTime.now
        yield* world.store.claim(
          [{ endpoint: endpoint.endpoint.id, limit: 1 }],
          now,
          DateTime.add(now, { seconds: 30 })
        )
        yield* TestClock.adjust("30 seconds")
      }
      yield* world.start()
      assert.deepInclude(yield* world.settled, { next: { _tag: "Failed" }, send: null })
      assert.deepInclude(yield* world.find(endpoint, id), { status: "failed", failedSends: 0 })
      assert.strictEqual(yield* Queue.size(world.calls), 0)
    }).pipe(Effect.provide(memory)))

  it.effect("ignores an outcome that arrives after another worker claimed the delivery", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const gate = yield* makeGate
      yield* world.start({ lease: "2 minutes" })
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, gate.answer)
      const id = yield* world.publish(endpoint)
      yield* world.call
      const now = DateTime.makeUnsafe(180_000)
      const [taken] = yield* world.store.claim(
        [{ endpoint: endpoint.endpoint.id, limit: 1 }],
        now,
        DateTime.add(now, { seconds: 30 })
      )
      yield* gate.give(status500)
      yield* world.settled
      assert.deepInclude(yield* world.find(endpoint, id), { status: "pending", failedSends: 0 })
      assert.deepStrictEqual(
        yield* world.store.settle([{ delivery: id, claims: taken!.claims, next: { _tag: "Delivered" }, send: null }]),
        [id]
      )
    }).pipe(Effect.provide(memory)))

  it.effect("does not send if the send could outlive the lease", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      yield* world.start()
      world.claims.closeUnsafe()
      yield* world.publish(endpoint)
      // The claim takes long.
      const waiting = yield* Effect.forkChild(world.call)
      while (world.count.claim === 0) yield* Effect.yieldNow
      yield* TestClock.adjust("16 seconds")
      yield* world.claims.open
      yield* Fiber.join(waiting)
      const { send } = yield* world.settled
      assert.deepInclude(send, { attempt: 1, at: DateTime.makeUnsafe(16_000) })
    }).pipe(Effect.provide(memory)))

  it.effect("measures the duration of a send even if the clock is set back", () =>
    Effect.gen(function*() {
      let back = 0
      const behind = yield* makeClockBehind(() => back)
      const world = yield* makeWorld
      const gate = yield* makeGate
      yield* TestClock.adjust("1 day")
      yield* Effect.provideService(world.start(), Clock.Clock, behind)
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, gate.answer)
      const id = yield* world.publish(endpoint)
      yield* world.call
      yield* TestClock.adjust("1 second")
      back = 3_600_000
      yield* gate.give(ok)
      assert.strictEqual((yield* world.settled).send?.durationMillis, 1000)
      assert.deepInclude(yield* world.find(endpoint, id), { status: "delivered" })
    }).pipe(Effect.provide(memory)))

  it.effect("ends a hanging send at half of its lease", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, () => Effect.never)
      yield* world.publish(endpoint)
      yield* world.call
      yield* TestClock.adjust("15 seconds")
      const { send } = yield* world.settled
      assert.deepInclude(send, { durationMillis: 15_000, outcome: { reason: "timeout", httpStatus: null } })
    }).pipe(Effect.provide(memory)))

  it.effect("treats a defect of the transport as a crash: other sends continue, and the delivery is due when its lease ends", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const broken = yield* world.endpoint()
      const sound = yield* world.endpoint()
      world.answer(broken, () => Effect.die(new Error("bug")))
      const id = yield* world.publish(broken)
      assert.strictEqual((yield* world.call).delivery, id)
      const other = yield* world.publish(sound)
      assert.strictEqual((yield* world.settled).delivery, other)
      yield* world.call
      world.answer(broken, () => Effect.succeed(ok))
      yield* TestClock.adjust("30 seconds")
      assert.deepInclude(yield* world.call, { delivery: id, at: 30_000 })
      assert.strictEqual((yield* world.settled).send?.attempt, 2)
    }).pipe(Effect.provide(memory)))

  it.effect("retries in a minute without using up a send if a body cannot be made", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      let isBroken = true
      yield* world.start({
        complete: ({ data }) => isBroken ? Effect.die(new Error("no signer")) : Effect.succeed(data)
      })
      const endpoint = yield* world.endpoint()
      const id = yield* world.publish(endpoint)
      while ((yield* world.find(endpoint, id))?.dueAt?.epochMilliseconds !== 60_000) yield* Effect.yieldNow
      isBroken = false
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* world.call, { delivery: id, at: 60_000 })
      assert.strictEqual((yield* world.settled).send?.attempt, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("does not send a body that is too large, and sends others immediately", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      let first: string | undefined
      yield* world.start({
        bodyBytesMax: 1000,
        body: ({ id }) => (id === (first ??= id) ? "x".repeat(1000) : "x".repeat(998))
      })
      const endpoint = yield* world.endpoint()
      const ids = yield* world.publishMany(endpoint, 2)
      const { body, delivery } = yield* world.call
      assert.deepStrictEqual([body.length, delivery], [1000, ids.find((id) => id !== first)])
      const late = ids.find((id) => id === first)!
      assert.strictEqual((yield* world.find(endpoint, late))?.dueAt?.epochMilliseconds, 60_000)
    }).pipe(Effect.provide(memory)))

  it.effect("sends other claimed deliveries although one whose body is too large cannot be released", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      world.faults.release = 1
      const endpoint = yield* world.endpoint()
      const large = yield* world.publish(endpoint, "x".repeat(1000))
      const beside = yield* world.endpoint()
      const small = yield* world.publish(beside)
      yield* world.start({ bodyBytesMax: 1000 })
      assert.deepInclude(yield* world.call, { delivery: small, at: 0 })
      assert.strictEqual(world.count.release, 1)
      assert.strictEqual((yield* world.find(endpoint, large))?.dueAt?.epochMilliseconds, 30_000)
    }).pipe(Effect.provide(memory)))

  it.effect("retries in a minute without using up a send if a secret cannot be opened", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const createdAt = yield* DateTime.now
      const broken = yield* world.endpoint({ secrets: [{ sealed: "broken", createdAt, expiresAt: null }] })
      const sound = yield* world.endpoint()
      const ids = yield* world.publishMany(broken, 3)
      while ((yield* world.find(broken, ids[0]!))?.dueAt?.epochMilliseconds !== 60_000) yield* Effect.yieldNow
      const other = yield* world.publish(sound)
      assert.strictEqual((yield* world.call).delivery, other)
      yield* world.settled
      // No further delivery of a resting endpoint is claimed.
      const asked = world.count.claim
      yield* world.save({ ...broken, secrets: [{ sealed: "sealed:whsec_1", createdAt, expiresAt: null }] })
      for (let second = 0; second < 62; second++) yield* TestClock.adjust("1 second")
      const sent = yield* Effect.forEach(ids, () => world.call)
      assert.sameMembers(sent.map(({ delivery }) => delivery), ids)
      assert.isBelow(world.count.claim - asked, 10)
      assert.isTrue((yield* Effect.forEach(ids, () => world.settled)).every(({ send }) => send?.attempt === 1))
    }).pipe(Effect.provide(memory)))

  it.effect("claims nothing during a drain, and stores the outcomes of the sends in flight", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const gate = yield* makeGate
      const worker = yield* world.start({ grace: "15 seconds" })
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, gate.answer)
      const id = yield* world.publish(endpoint)
      yield* world.call
      const draining = yield* Effect.forkChild(worker.drain)
      yield* TestClock.adjust("5 seconds")
      const late = yield* world.publish(endpoint)
      assert.isUndefined(draining.pollUnsafe())
      yield* gate.give(ok)
      yield* Fiber.join(draining)
      assert.deepInclude(yield* world.find(endpoint, id), { status: "delivered" })
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* world.find(endpoint, late), { status: "pending" })
      assert.strictEqual(yield* Queue.size(world.calls), 0)
    }).pipe(Effect.provide(memory)))

  it.effect("interrupts sends that exceed the grace period without counting them as failed", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const worker = yield* world.start({ grace: "10 seconds" })
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, () => Effect.never)
      const id = yield* world.publish(endpoint)
      yield* world.call
      const draining = yield* Effect.forkChild(worker.drain)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(draining)
      assert.deepInclude(yield* world.find(endpoint, id), { status: "pending", failedSends: 0 })
      world.answer(endpoint, () => Effect.succeed(ok))
      yield* world.start()
      yield* TestClock.adjust("20 seconds")
      assert.deepInclude(yield* world.call, { delivery: id, at: 30_000 })
    }).pipe(Effect.provide(memory)))

  it.effect("drains without waiting for a hanging claim, and releases deliveries that it returns later", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const worker = yield* world.start({ grace: "10 seconds" })
      world.claims.closeUnsafe()
      const endpoint = yield* world.endpoint()
      const id = yield* world.publish(endpoint)
      while (world.count.claim === 0) yield* Effect.yieldNow
      const stopping = yield* Effect.forkChild(worker.stop)
      // The grace period, and one second for interrupted sends.
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stopping)
      yield* world.claims.open
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Queue.size(world.calls), 0)
      // Long before the lease ends.
      yield* world.start()
      assert.deepInclude(yield* world.call, { delivery: id, at: 12_000 })
      assert.strictEqual((yield* world.settled).send?.attempt, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("stores an outcome without its log line if the store rejects the line, and other outcomes with theirs", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      const gate = yield* makeGate
      world.answer(endpoint, gate.answer)
      world.faults.refused = "status_599"
      const ids = yield* world.publishMany(endpoint, 1)
      yield* world.call
      yield* gate.give({ reason: "status_599", httpStatus: 599 })
      assert.deepInclude(yield* world.settled, { delivery: ids[0]!, send: null })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* world.call).at, 10_000)
      yield* gate.give(ok)
      yield* world.settled
      assert.deepInclude(yield* world.find(endpoint, ids[0]!), { status: "delivered" })
      assert.deepStrictEqual((yield* world.log(endpoint)).map(({ attempt, reason }) => [attempt, reason]), [[2, "ok"]])
    }).pipe(Effect.provide(memory)))

  it.effect("sends without an older secret that cannot be opened", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const createdAt = yield* DateTime.now
      const endpoint = yield* world.endpoint({
        secrets: [
          { sealed: "sealed:whsec_new", createdAt, expiresAt: null },
          { sealed: "broken", createdAt, expiresAt: DateTime.makeUnsafe(86_400_000) }
        ]
      })
      yield* world.publishMany(endpoint, 2)
      for (const call of [yield* world.call, yield* world.call]) {
        assert.deepStrictEqual(signatureOf(call).v1, [yield* signedWith("whsec_new", call)])
      }
    }).pipe(Effect.provide(memory)))

  it.effect("fails the pending deliveries of a disabled endpoint with one line in its log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      let made = 0
      yield* world.start({ complete: () => Effect.sync(() => ++made) })
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, () => Effect.succeed(status500))
      const id = yield* world.publish(endpoint)
      yield* world.call
      yield* world.settled
      yield* world.save({ ...endpoint, endpoint: { ...endpoint.endpoint, status: "disabled" } })
      yield* TestClock.adjust("10 seconds")
      yield* world.settled
      assert.deepInclude(yield* world.find(endpoint, id), { status: "failed", dueAt: null })
      const log = yield* world.log(endpoint)
      assert.deepStrictEqual(log.map(({ attempt, reason }) => [attempt, reason]), [[2, "disabled"], [1, "status_500"]])
      assert.strictEqual(yield* Queue.size(world.calls), 0)
      // Deliveries to a disabled endpoint have no body.
      const late = yield* world.publish(endpoint)
      yield* world.settled
      assert.deepInclude(yield* world.find(endpoint, late), { status: "failed" })
      assert.strictEqual(made, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("ignores a delivery whose endpoint is removed during the send", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const gate = yield* makeGate
      yield* world.start()
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, gate.answer)
      const id = yield* world.publish(endpoint)
      yield* world.call
      yield* world.remove(endpoint)
      yield* gate.give(status500)
      yield* world.settled
      yield* TestClock.adjust("10 minutes")
      assert.isUndefined(yield* world.find(endpoint, id))
      assert.strictEqual(yield* Queue.size(world.calls), 0)
      // The worker still works.
      const other = yield* world.endpoint()
      const next = yield* world.publish(other)
      assert.strictEqual((yield* world.call).delivery, next)
    }).pipe(Effect.provide(memory)))
})
