/** Tests of the body of a delivery, which each of its sends repeats, also after a crash. */
import { assert, layer } from "@effect/vitest"
import { TestTime } from "@kinora/testkit"
import { DateTime, Effect, type Layer } from "effect"
import type { EndpointRecord } from "../src/WebhookStore.ts"
import { type Backend, type Call, makeWorld, ok, status500 } from "./SendingWorld.ts"

/** The bodies of a worker's deliveries over every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`DeliveryWorker, bodies (${name})`, (it) => {
    it.effect("repeats the body after a crash before the outcome is stored, without storing it before the send", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        const id = yield* world.publish(endpoint, data)
        // This worker crashes after the claim, before the send.
        yield* claimOnly(world, endpoint)
        yield* TestTime.advance("30 seconds")
        // This one during the send, the next one after it.
        const calls: Array<Call> = []
        for (const answer of [Effect.never, Effect.succeed(status500)]) {
          world.answer(endpoint, () => answer)
          world.faults.settle = Infinity
          const worker = yield* world.start()
          calls.push(yield* world.call)
          while (answer !== Effect.never && world.count.settle === 0) yield* Effect.yieldNow
          yield* worker.stop
          yield* TestTime.advance("30 seconds")
        }
        world.faults.settle = 0
        world.answer(endpoint, () => Effect.succeed(ok))
        yield* world.start()
        calls.push(yield* world.call)
        assert.deepInclude((yield* world.settled).send, { attempt: 4 })
        // Other builds send the rest of the deliveries, so these bytes cannot change.
        const text = `{"id":"${id}","type":"order.paid","created_at":"${createdAt}","data":${dataText}}`
        assert.deepStrictEqual(calls.map((call) => call.text), [text, text, text])
        assert.strictEqual(world.count.freeze, 0)
      }))

    it.effect("repeats the stored body of a failed send, even if the worker makes other bodies now", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        world.answer(endpoint, () => Effect.succeed(status500))
        const former = yield* world.start()
        yield* world.publish(endpoint, data)
        const first = yield* world.call
        yield* world.settled
        yield* former.stop
        yield* world.start({ body: () => "another", complete: () => Effect.succeed("other data") })
        for (const pause of ["10 seconds", "60 seconds"] as const) {
          yield* TestTime.advance(pause)
          assert.strictEqual((yield* world.call).text, first.text)
          yield* world.settled
        }
        assert.strictEqual(world.count.freeze, 0)
      }))

    for (const kind of ["body", "complete"] as const) {
      it.effect(`stores the body before the first send if \`${kind}\` is set`, () =>
        Effect.gen(function*() {
          const world = yield* makeWorld
          const endpoint = yield* world.endpoint()
          let made = 0
          const options = kind === "body" ? { body: () => ++made } : { complete: () => Effect.sync(() => ++made) }
          const crashing = yield* world.start(options)
          world.answer(endpoint, () => Effect.never)
          yield* world.publish(endpoint)
          const lost = yield* world.call
          yield* crashing.stop
          world.answer(endpoint, () => Effect.succeed(ok))
          yield* TestTime.advance("30 seconds")
          yield* world.start(options)
          assert.strictEqual((yield* world.call).text, lost.text)
          yield* world.settled
          assert.deepStrictEqual([made, world.count.freeze], [1, 1])
        }))
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** JavaScript writes some of this in another way than its source. */
const data = { z: 1.50, "10": [1e21, -0, 1e-7], "2": "ü\u2028😀\"\\/", a: { "": null } }

const dataText = `{"2":"ü\u2028😀\\"\\\\/","10":[1e+21,0,1e-7],"z":1.5,"a":{"":null}}`

const claimOnly = Effect.fnUntraced(function*(
  { store }: Effect.Success<typeof makeWorld>,
  { endpoint }: EndpointRecord
) {
  const now = yield* DateTime.now
  const claimed = yield* store.claim([{ endpoint: endpoint.id, limit: 1 }], now, DateTime.add(now, { seconds: 30 }))
  assert.strictEqual(claimed.length, 1)
})
