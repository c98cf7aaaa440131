import { assert, describe, it } from "@effect/vitest"
import { Secret } from "@kinora/webhook-signing"
import * as Standard from "@kinora/webhook-signing/standard"
import { DateTime, Effect, Queue } from "effect"
import { TestClock } from "effect/testing"
import { type Call, makeGate, makeWorld, memory, ok, signatureOf, signedWith, status500 } from "./SendingWorld.ts"

describe("DeliveryWorker", () => {
  it.effect("sends an event immediately with the documented body and headers", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      yield* TestClock.adjust("1700 millis")
      const id = yield* world.publish(endpoint)
      const call = yield* world.call
      assert.strictEqual(call.at, 1700)
      assert.deepStrictEqual(JSON.parse(call.text), {
        id,
        type: "order.paid",
        created_at: "1970-01-01T00:00:01.700Z",
        data: { n: 0 }
      })
      const { "X-Service-Signature": signature, ...headers } = call.headers
      assert.deepStrictEqual(headers, {
        "Content-Type": "application/json",
        "User-Agent": "Service-Webhooks/1.0",
        "X-Service-Event": "order.paid",
        "X-Service-Delivery": id
      })
      assert.strictEqual(signature, `t=1,v1=${yield* signedWith("whsec_1", call)}`)
      yield* world.settled
      const [line] = yield* world.log(endpoint)
      assert.deepInclude(line, { ...ok, delivery: id, attempt: 1, type: "order.paid", durationMillis: 0 })
      assert.deepInclude(yield* world.find(endpoint, id), { status: "delivered", dueAt: null })
    }).pipe(Effect.provide(memory)))

  it.effect("sends 4 times, at 0, 10, 60 and 300 seconds after the previous send ended, to the millisecond and without a poll", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start({ pollInterval: "1 hour" })
      const endpoint = yield* world.endpoint()
      const gate = yield* makeGate
      world.answer(endpoint, gate.answer)
      const id = yield* world.publish(endpoint)
      const times: Array<number> = []
      for (const pause of [0, 10, 60, 300]) {
        yield* TestClock.adjust(`${pause} seconds`)
        times.push((yield* world.call).at)
        // Each send takes 3 seconds.
        yield* TestClock.adjust("3 seconds")
        yield* gate.give(status500)
        yield* world.settled
      }
      assert.deepStrictEqual(times, [0, 13_000, 76_000, 379_000])
      assert.deepInclude(yield* world.find(endpoint, id), { status: "failed", failedSends: 4 })
      yield* TestClock.adjust("1 day")
      const next = yield* world.publish(endpoint)
      assert.strictEqual((yield* world.call).delivery, next)
    }).pipe(Effect.provide(memory)))

  it.effect("limits the bytes of one claim and still sends every delivery", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoints = yield* Effect.forEach(["a", "b", "c", "d"], (account) => world.endpoint({ account }))
      const ids = yield* Effect.forEach(endpoints, world.publishQuietly)
      // The data of an event has seven bytes.
      yield* world.start({ claimBytesMax: 15, lookPause: 0 })
      const calls = yield* Effect.forEach(ids, () => world.call)
      assert.sameMembers(calls.map(({ delivery }) => delivery), ids)
      assert.deepStrictEqual(calls.map(({ at }) => at), [0, 0, 0, 0])
      assert.strictEqual(world.count.claimedAtOnce, 2)
    }).pipe(Effect.provide(memory)))

  it.effect("repeats the body of the first send with a new timestamp, even if the event would give another body now", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      let made = 0
      yield* world.start({ complete: ({ data }) => Effect.sync(() => ({ data, link: ++made })) })
      const endpoint = yield* world.endpoint()
      world.answer(endpoint, () => Effect.succeed(status500))
      yield* world.publish(endpoint)
      const calls: Array<Call> = []
      for (const pause of [0, 10, 60, 300]) {
        yield* TestClock.adjust(`${pause} seconds`)
        calls.push(yield* world.call)
        yield* world.settled
      }
      assert.strictEqual(made, 1)
      assert.deepStrictEqual(JSON.parse(calls[0]!.text).data, { data: { n: 0 }, link: 1 })
      for (const call of calls) assert.deepStrictEqual(call.body, calls[0]!.body)
      assert.deepStrictEqual(calls.map((call) => signatureOf(call).t), [0, 10, 70, 370])
      for (const call of calls) {
        assert.deepStrictEqual(signatureOf(call).v1, [yield* signedWith("whsec_1", call)])
      }
    }).pipe(Effect.provide(memory)))

  it.effect("repeats the body that a crashed worker made", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      yield* world.publish(endpoint)
      let made = 0
      const options = { complete: () => Effect.sync(() => ++made) }
      const first = yield* world.start(options)
      world.answer(endpoint, () => Effect.never)
      const lost = yield* world.call
      yield* first.stop
      yield* world.start(options)
      world.answer(endpoint, () => Effect.succeed(ok))
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* world.call).text, lost.text)
      const { send } = yield* world.settled
      assert.strictEqual(send?.attempt, 2)
      assert.strictEqual(made, 1)
    }).pipe(Effect.provide(memory)))

  it.effect("signs with every active secret, newest first, and with one secret after the overlap", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const createdAt = yield* DateTime.now
      const endpoint = yield* world.endpoint({
        secrets: [
          { sealed: "sealed:whsec_new", createdAt, expiresAt: null },
          { sealed: "sealed:whsec_old", createdAt, expiresAt: DateTime.makeUnsafe(10_000) }
        ]
      })
      world.answer(endpoint, () => Effect.succeed(status500))
      yield* world.publish(endpoint)
      const during = yield* world.call
      assert.deepStrictEqual(signatureOf(during).v1, [
        yield* signedWith("whsec_new", during),
        yield* signedWith("whsec_old", during)
      ])
      yield* world.settled
      yield* TestClock.adjust("10 seconds")
      const afterwards = yield* world.call
      assert.deepStrictEqual(signatureOf(afterwards).v1, [yield* signedWith("whsec_new", afterwards)])
    }).pipe(Effect.provide(memory)))

  it.effect("sends Standard Webhooks with one id and a new timestamp for each send, and no other signature", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start({ signatureFormat: "standard" })
      const secret = Secret.encode(new Uint8Array(32).fill(7))
      const createdAt = yield* DateTime.now
      const endpoint = yield* world.endpoint({
        secrets: [{ sealed: `sealed:${secret}`, createdAt, expiresAt: null }]
      })
      world.answer(endpoint, () => Effect.succeed(status500))
      const id = yield* world.publish(endpoint)
      for (const [pause, timestamp] of [[0, 0], [10, 10], [60, 70], [300, 370]] as const) {
        yield* TestClock.adjust(`${pause} seconds`)
        const { body, headers } = yield* world.call
        assert.notProperty(headers, "X-Service-Signature")
        const request = { body, headers, secret, nowMillis: timestamp * 1000, toleranceSeconds: 0 }
        assert.deepStrictEqual(yield* Effect.promise(() => Standard.verify(request)), { id, timestamp })
        yield* world.settled
      }
    }).pipe(Effect.provide(memory)))

  it.effect("uses the header names, user agent and body of the options", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start({
        headerPrefix: "Orders-",
        userAgent: "Orders/2",
        body: ({ createdAt, data, id, type }) => ({ event: type, key: id, when: createdAt, what: data })
      })
      const endpoint = yield* world.endpoint()
      const id = yield* world.publish(endpoint)
      const call = yield* world.call
      assert.hasAllKeys(call.headers, [
        "Content-Type",
        "User-Agent",
        "Orders-Event",
        "Orders-Delivery",
        "Orders-Signature"
      ])
      assert.strictEqual(call.headers["User-Agent"], "Orders/2")
      assert.deepStrictEqual(JSON.parse(call.text), {
        event: "order.paid",
        key: id,
        when: "1970-01-01T00:00:00.000Z",
        what: { n: 0 }
      })
    }).pipe(Effect.provide(memory)))

  it.effect("sends every delivery once, with at most 16 concurrent sends to one endpoint", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      let now = 0
      let most = 0
      world.answer(endpoint, () =>
        Effect.sync(() => most = Math.max(most, ++now)).pipe(
          Effect.andThen(Effect.yieldNow),
          Effect.andThen(Effect.sync(() => (now--, ok)))
        ))
      const ids = yield* world.publishMany(endpoint, 200)
      const sent = yield* Effect.forEach(ids, () => world.call)
      yield* Effect.forEach(ids, () => world.settled)
      assert.sameMembers(sent.map(({ delivery }) => delivery), ids)
      assert.isAtMost(most, 16)
      assert.isAbove(most, 8)
    }).pipe(Effect.provide(memory)))

  it.effect("finds deliveries without a wake-up", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start()
      const endpoint = yield* world.endpoint()
      const id = yield* world.publishQuietly(endpoint)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* world.call).delivery, id)
    }).pipe(Effect.provide(memory)))

  it.effect("sends to more endpoints than one page lists", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoints = yield* Effect.forEach(
        Array.from({ length: 1100 }, (_, n) => n),
        (n) => world.endpoint({ account: `account-${n % 400}` })
      )
      const ids = yield* Effect.forEach(endpoints, (endpoint) => world.publishQuietly(endpoint))
      yield* world.start()
      const sent = yield* Effect.forEach(ids, () => world.call)
      assert.sameMembers(sent.map(({ delivery }) => delivery), ids)
    }).pipe(Effect.provide(memory)))

  it.effect("shares deliveries with workers of other processes, one worker per delivery at a time", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const endpoints = yield* Effect.forEach([1, 2, 3], (n) => world.endpoint({ account: `${n}` }))
      yield* world.start()
      yield* world.start()
      const ids = (yield* Effect.forEach(endpoints, (endpoint) => world.publishMany(endpoint, 100))).flat()
      const settled = yield* Effect.forEach(ids, () => world.settled)
      assert.sameMembers(settled.map(({ delivery }) => delivery), ids)
      assert.strictEqual(yield* Queue.size(world.calls), 300)
      assert.isTrue(settled.every(({ send }) => send?.attempt === 1))
    }).pipe(Effect.provide(memory)))
})
