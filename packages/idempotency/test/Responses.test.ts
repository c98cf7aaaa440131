import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { fingerprintOf } from "../src/internal/contract/requests.ts"
import { layerWith, Responses } from "../src/Responses.ts"
import * as Backend from "./Backend.ts"
import { suite } from "./ResponsesContract.ts"

suite("memory", Backend.memory)

it.effect("frees a key that an interrupted call has claimed", () =>
  Effect.gen(function*() {
    const unitOfWork = yield* UnitOfWork.UnitOfWork
    const committed = yield* Deferred.make<void>()
    // The response to the commit is late.
    const late = UnitOfWork.UnitOfWork.of({
      ...unitOfWork,
      atomically: (work) =>
        unitOfWork.atomically(work).pipe(
          Effect.tap(() => Deferred.succeed(committed, undefined)),
          Effect.andThen(Effect.never)
        )
    })
    const request = { scope: "interrupted", key: "k-1", fingerprint: fingerprintOf("a") }
    const responses = layerWith({}).pipe(Layer.provide(SecureRandom.layerWebCrypto), Layer.fresh)
    const begin = Responses.use((responses) => responses.begin(request))
    const interrupted = yield* begin.pipe(
      Effect.provide(responses),
      Effect.provideService(UnitOfWork.UnitOfWork, late),
      Effect.forkChild
    )
    yield* Deferred.await(committed)
    assert.strictEqual((yield* Effect.provide(begin, responses))._tag, "InProgress")
    yield* Fiber.interrupt(interrupted)
    yield* Effect.yieldNow
    assert.strictEqual((yield* Effect.provide(begin, responses))._tag, "First")
  }).pipe(Effect.provide(Backend.memory)))
