/** The guarantees of `Responses` on every backend. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestTime } from "@kinora/testkit"
import { Cause, Data, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"
import type { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { Begun, layerWith, Responses, type ResponsesOptions, type RunningRequest } from "../src/Responses.ts"
import type { StoredResponse } from "../src/StoredResponse.ts"
import { fingerprintOf, requestOf } from "./requests.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

const response: StoredResponse = {
  status: 201,
  headers: [["content-type", "text/plain"], ["x-name", "ü"], ["x-name", "2"]],
  body: Uint8Array.of(0, 255, 10)
}

const request = (scope: string) => ({ scope, key: "k".repeat(255), fingerprint: fingerprintOf("a") })

/** Begins a request that no other has begun. */
const first = (scope: string) =>
  Effect.flatMap(Responses.use(({ begin }) => begin(request(scope))), (begun) => {
    assert.strictEqual(begun._tag, "First")
    return begun._tag === "First" ? Effect.succeed(begun.running) : Effect.die("The request was begun before")
  })

/** Returns the tag of another attempt to begin a request. */
const again = (scope: string) => Effect.map(Responses.use(({ begin }) => begin(request(scope))), ({ _tag }) => _tag)

const completeRunning = (running: RunningRequest) => Responses.use(({ complete }) => complete(running, response))

/** Runs an effect in a process of its own, which dies at the end: it renews no lease any more. */
const inProcess = <A, E, R>(effect: Effect.Effect<A, E, R>, options: ResponsesOptions = {}) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(Layer.fresh(layerWith(options)), scope)
    const result = yield* Effect.provideContext(effect, services)
    yield* Scope.close(scope, Exit.void)
    return result
  })

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

    it.effect("keeps a response for its window, and a marker of one that is too large", () =>
      Effect.gen(function*() {
        const { begin, complete, release } = yield* Responses
        const running = yield* first("window")
        yield* complete(running, { status: 200, headers: [], body: undefined }, { window: "1 hour" })
        // Neither frees or replaces it.
        yield* release(running)
        yield* complete(running, response)
        yield* TestTime.advance("59 minutes")
        const begun = yield* begin(request("window"))
        assert.deepStrictEqual(begun, Begun.Replay({ response: { status: 200, headers: [], body: undefined } }))
        yield* TestTime.advance("1 minute")
        // The next request has a response of its own.
        yield* Effect.flatMap(first("window"), completeRunning)
        assert.deepStrictEqual(plain([yield* begin(request("window"))]), [Begun.Replay({ response })])
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

    it.effect("runs a request of a dead process again after its lease, and fences the first run", () =>
      Effect.gen(function*() {
        const running = yield* inProcess(first("dead"))
        yield* TestTime.advance("29 seconds")
        assert.strictEqual(yield* again("dead"), "InProgress")
        yield* TestTime.advance("1 second")
        const next = yield* first("dead")
        // The first process was only slow. It neither stores its response nor frees the key.
        assert.strictEqual((yield* Effect.flip(completeRunning(running)))._tag, "LeaseLost")
        yield* Responses.use(({ release }) => release(running))
        assert.strictEqual(yield* again("dead"), "InProgress")
        yield* completeRunning(next)
        assert.strictEqual((yield* Effect.flip(completeRunning(running)))._tag, "LeaseLost")
      }))

    it.effect("stores a response after the lease, if no repetition has begun", () =>
      Effect.gen(function*() {
        const running = yield* inProcess(first("late"), { lease: "5 seconds" })
        yield* TestTime.advance("10 seconds")
        yield* completeRunning(running)
        assert.strictEqual(yield* again("late"), "Replay")
      }))

    it.effect("commits a response with the work of its unit, or neither", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const work = requestOf("with work")
        const running = yield* first("unit")
        const unit = claimAll([{ ...work, reference: "order-1" }]).pipe(Effect.andThen(completeRunning(running)))
        const undone = yield* Effect.exit(atomically(Effect.andThen(unit, Effect.fail(new Refused()))))
        assert.isTrue(Exit.isFailure(undone) && Cause.hasFails(undone.cause))
        assert.strictEqual((yield* find(work))._tag, "None")
        assert.strictEqual(yield* again("unit"), "InProgress")
        yield* atomically(unit)
        assert.strictEqual((yield* find(work))._tag, "Replay")
        assert.strictEqual(yield* again("unit"), "Replay")
        // A process that has lost its lease commits no work.
        const dead = yield* inProcess(first("lost unit"))
        yield* TestTime.advance("30 seconds")
        yield* first("lost unit")
        const late = { ...work, scope: "late work" }
        const lost = claimAll([{ ...late, reference: "order-2" }]).pipe(Effect.andThen(completeRunning(dead)))
        assert.strictEqual((yield* Effect.flip(atomically(lost)))._tag, "LeaseLost")
        assert.strictEqual((yield* find(late))._tag, "None")
      }))

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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Drivers return bytes as a `Buffer`. */
const plain = (begun: ReadonlyArray<Begun>) =>
  begun.map((begun) =>
    begun._tag === "Replay" && begun.response.body !== undefined
      ? Begun.Replay({ response: { ...begun.response, body: Uint8Array.from(begun.response.body) } })
      : begun
  )
