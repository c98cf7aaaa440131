/** Probes of `kinora doctor`. */
import { assert, it } from "@effect/vitest"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Probe from "../src/Probe.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const urlOf = Effect.fnUntraced(function*(seconds: number, keys?: string) {
  const signer = keys === undefined ? yield* UrlSigner.UrlSigner : UrlSigner.make({ keys: [Redacted.make(keys)] })
  return UrlSigner.urlOf(signer, "", Probe.pathOf(seconds), DateTime.add(yield* DateTime.now, { minutes: 2 }))
})

it.effect("is answered after its seconds, longer than other requests may take", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ requestTime: Duration.seconds(5) })
    assert.strictEqual((yield* send("GET", yield* urlOf(0))).status, 204)
    const fiber = yield* Effect.forkChild(send("GET", yield* urlOf(60)), { startImmediately: true })
    yield* TestClock.adjust("59 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 204)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds to everything else like to a path that does not exist, and counts guesses", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 4 })
    const valid = yield* urlOf(1)
    const foreign = yield* urlOf(1, "the key of another service with 32 bytes")
    for (const path of [foreign, valid.replace("/1?", "/2?"), valid.split("?")[0]!, `${valid}&sig=x`]) {
      errorOf(yield* send("GET", path), "not_found")
    }
    errorOf(yield* send("GET", foreign), "rate_limited")
    errorOf(yield* send("GET", yield* urlOf(61)), "not_found")
    yield* TestClock.adjust("2 minutes")
    errorOf(yield* send("GET", valid), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("is refused while eight others run", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const url = yield* urlOf(30)
    const fibers = yield* Effect.forEach(
      Array.from({ length: 8 }),
      () => Effect.forkChild(send("GET", url), { startImmediately: true })
    )
    errorOf(yield* send("GET", url), "unavailable")
    yield* TestClock.adjust("30 seconds")
    const answers = yield* Fiber.joinAll(fibers)
    assert.deepStrictEqual(answers.map(({ status }) => status), fibers.map(() => 204))
    assert.strictEqual((yield* send("GET", yield* urlOf(0))).status, 204)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
