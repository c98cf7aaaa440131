/** Requests whose responses are stored. */
import { assert } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { Begun, layerWith, Responses, type ResponsesOptions, type RunningRequest } from "../../Responses.ts"
import type { StoredResponse } from "../../StoredResponse.ts"
import { fingerprintOf } from "./requests.ts"

/** A response with bytes that are not text. */
export const response: StoredResponse = {
  status: 201,
  headers: [["content-type", "text/plain"], ["x-name", "ü"], ["x-name", "2"]],
  body: Uint8Array.of(0, 255, 10)
}

/** A request with the longest key. */
export const request = (scope: string) => ({ scope, key: "k".repeat(255), fingerprint: fingerprintOf("a") })

/** Begins a request that no other has begun. */
export const first = (scope: string) =>
  Effect.flatMap(Responses.use(({ begin }) => begin(request(scope))), (begun) => {
    assert.strictEqual(begun._tag, "First")
    return begun._tag === "First" ? Effect.succeed(begun.running) : Effect.die("The request was begun before")
  })

/** Returns the tag of another attempt to begin a request. */
export const again = (scope: string) =>
  Effect.map(Responses.use(({ begin }) => begin(request(scope))), ({ _tag }) => _tag)

/** Stores the response. */
export const completeRunning = (running: RunningRequest) => Responses.use(({ complete }) => complete(running, response))

/** Runs an effect in a process of its own, which dies at the end: it renews no lease any more. */
export const inProcess = <A, E, R>(effect: Effect.Effect<A, E, R>, options: ResponsesOptions = {}) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(Layer.fresh(layerWith(options)), scope)
    const result = yield* Effect.provideContext(effect, services)
    yield* Scope.close(scope, Exit.void)
    return result
  })

/** Drivers return bytes as a `Buffer`. */
export const plain = (begun: ReadonlyArray<Begun>) =>
  begun.map((begun) =>
    begun._tag === "Replay" && begun.response.body !== undefined
      ? Begun.Replay({ response: { ...begun.response, body: Uint8Array.from(begun.response.body) } })
      : begun
  )
