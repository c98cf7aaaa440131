/** The guarantees of `Responses` on every backend. */
import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { TestTime } from "@kinora/testkit"
import { Effect, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"
import type { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { fingerprintOf, requestOf } from "../src/internal/contract/requests.ts"
import {
  again,
  completeRunning,
  first,
  inProcess,
  plain,
  request,
  response
} from "../src/internal/contract/runningRequests.ts"
import { Begun, layerWith, Responses } from "../src/Responses.ts"

/** Declares the tests. */
export const suite = <E>(name: string, backend: Layer.Layer<IdempotencyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(
    Layer.mergeAll(layerIdempotency, layerWith({})).pipe(
      Layer.provideMerge(Layer.merge(backend, SecureRandom.layerWebCrypto))
    )
  )(`Responses (${name})`, (it) => {
    it.effect("begins one of 50 identical requests, and replays its response to those that wait", () =>
      Effect.gen(function*() {
        const { begin } = yield* Responses
        const waiting = yield* Effect.forEach(
          Array.from({ length: 50 }),
          () =>
            Effect.tap(
              begin(request("crowd"), { wait: "1 minute" }),
              (begun) => begun._tag === "First" ? completeRunning(begun.running) : Effect.void
            ),
          { concurrency: "unbounded" }
        ).pipe(Effect.forkChild)
        yield* TestTime.pass("100 millis", { step: "20 millis" })
        const begun = yield* Fiber.join(waiting)
        assert.strictEqual(begun.filter(({ _tag }) => _tag === "First").length, 1)
        const replays = begun.filter(({ _tag }) => _tag === "Replay")
        assert.deepStrictEqual(plain(replays), Array.from({ length: 49 }, () => Begun.Replay({ response })))
      }))

    it.effect("refuses a key of another request, and waits no longer than it may", () =>
      Effect.gen(function*() {
        const { begin, release } = yield* Responses
        const running = yield* first("refused")
        const other = { ...request("refused"), fingerprint: fingerprintOf("b") }
        assert.strictEqual((yield* begin(other, { wait: "1 minute" }))._tag, "Reused")
        assert.strictEqual(yield* again("refused"), "InProgress")
        const waiting = yield* Effect.forkChild(begin(request("refused"), { wait: "2 seconds" }))
        yield* TestTime.pass("2500 millis", { step: "250 millis" })
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "InProgress")
        yield* release(running)
        assert.strictEqual((yield* begin(other))._tag, "First")
      }))

    it.effect("renews the lease of a request while its process lives, up to the limit", () =>
      inProcess(
        Effect.gen(function*() {
          const running = yield* first("long")
          yield* TestTime.pass("11 seconds")
          assert.strictEqual(yield* again("long"), "InProgress")
          yield* TestTime.pass("4 seconds")
          const next = yield* first("long")
          assert.strictEqual((yield* Effect.flip(completeRunning(running)))._tag, "LeaseLost")
          yield* completeRunning(next)
        }),
        { lease: "3 seconds", runMax: "12 seconds" }
      ))

    it.effect("keeps keys of responses apart from claims, and sweeps both", () =>
      Effect.gen(function*() {
        const { claimAll, sweep } = yield* Idempotency
        yield* first("apart")
        const key = IdempotencyKey.Explicit({ text: request("apart").key })
        const [outcome] = yield* claimAll([{ ...requestOf("apart", key), reference: "order-1" }])
        assert.strictEqual(outcome?._tag, "Claimed")
        const running = yield* first("swept")
        yield* completeRunning(running)
        yield* TestTime.advance("25 hours")
        yield* sweep(1_000)
        assert.strictEqual(yield* sweep(1_000), 0)
        yield* first("swept")
      }))
  })
