/** The common part of promise APIs, on a service in memory. */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { make, toPlain } from "../src/promise.ts"
import { errorsByTag, errorsOf } from "../src/PromiseApi.ts"
import * as UnitOfWork from "../src/UnitOfWork.ts"

class Lamps extends Context.Service<Lamps, { readonly log: Array<string> }>()("test/Lamps") {}

class Broken extends Schema.TaggedError<Broken>("test/Broken")("Broken", {
  lamp: Schema.String,
  since: Schema.DateTimeUtc
}) {}

class Missing extends Schema.TaggedError<Missing>("test/Missing")("Missing", { lamp: Schema.String }) {}

abstract class LampError extends Error {
  abstract readonly code: string
}

const define = errorsOf(LampError)

class BrokenLampError extends define("broken_lamp", ({ lamp }: Broken) => `The lamp ${lamp} is broken`) {}

class MissingLampError extends define("missing_lamp", ({ lamp }: Missing) => `No lamp ${lamp}`) {}

const errorOf = errorsByTag<Broken | Missing, LampError>({ Broken: BrokenLampError, Missing: MissingLampError })

const never = (failure: never): Error => failure

const start = async () => {
  const log: Array<string> = []
  const lamps = Layer.effect(
    Lamps,
    Effect.acquireRelease(Effect.succeed({ log }), () => Effect.sync(() => log.push("service closed")))
  )
  const layer = Layer.merge(lamps, UnitOfWork.layerMemory)
  return { log, service: await make({ memory: layer, postgres: layer }, { memory: true }) }
}

const lamp = (name: string) =>
  Effect.acquireRelease(
    Lamps.use(({ log }) => Effect.sync(() => log.push(`${name} on`))),
    () => Effect.map(Lamps, ({ log }) => log.push(`${name} off`))
  )

it("makes errors with the fields of a refusal, a code and a message", () => {
  const since = new Date("2026-11-01T00:00:00Z")
  const error = errorOf({ reason: new Broken({ lamp: "desk", since: DateTime.fromDateUnsafe(since) }) })
  assert.isTrue(error instanceof LampError)
  assert.instanceOf(error, BrokenLampError)
  const fields = { name: "BrokenLampError", code: "broken_lamp", lamp: "desk", since }
  assert.deepStrictEqual(Object.fromEntries(Object.entries(error)), fields)
  assert.strictEqual(error.message, "The lamp desk is broken")
  assert.instanceOf(errorOf({ reason: new Missing({ lamp: "hall" }) }), MissingLampError)
})

it("converts values of Effect, at any depth", () => {
  const at = new Date(0)
  const error = new Error("no light")
  const value = {
    at: DateTime.makeUnsafe(0),
    date: at,
    some: Option.some({ at: DateTime.makeUnsafe(0) }),
    none: Option.none(),
    secret: Redacted.make("s"),
    list: [Duration.seconds(2)],
    map: new Map([["a", Option.some(1)]]),
    error,
    bytes: new Uint8Array([1])
  }
  assert.deepStrictEqual<unknown>(toPlain(value), {
    at,
    date: at,
    some: { at },
    none: undefined,
    secret: "s",
    list: [2_000],
    map: new Map([["a", 1]]),
    error,
    bytes: new Uint8Array([1])
  })
  // The type of a `Date` stays, too.
  const { date }: { readonly date: Date } = toPlain({ date: at })
  assert.strictEqual(date.getTime(), at.getTime())
})

it("closes what is open by its own close, by a signal, and before the service", async () => {
  const { log, service } = await start()
  const controller = new AbortController()
  const first = await service.open(lamp("first"), {}, never)
  const second = await service.open(lamp("second"), { signal: controller.signal }, never)
  await service.open(lamp("third"), {}, never)
  await Promise.all([first.close(), first.close()])
  controller.abort()
  await second.close()
  await service.close()
  assert.deepStrictEqual(log, [
    "first on",
    "second on",
    "third on",
    "first off",
    "second off",
    "third off",
    "service closed"
  ])
})

it("closes what was opened before a failure or an abort, and rejects", async () => {
  const { log, service } = await start()
  const failed = Effect.andThen(lamp("failed"), Effect.fail(new Missing({ lamp: "failed" })))
  const error = await service.open(failed, {}, (reason) => errorOf({ reason })).catch((error: unknown) => error)
  assert.instanceOf(error, MissingLampError)
  const controller = new AbortController()
  const aborting = Effect.andThen(lamp("aborted"), Effect.sync(() => controller.abort(new Error("the request ended"))))
  const rejected = service.open(Effect.andThen(aborting, Effect.never), controller, never)
  assert.match(String(await rejected.catch((error: unknown) => error)), /the request ended/)
  assert.deepStrictEqual(log, ["failed on", "failed off", "aborted on", "aborted off"])
  await service.close()
})

it("closes the service after what is closing already, and opens and calls nothing afterwards", async () => {
  const { log, service } = await start()
  const gate = Promise.withResolvers<void>()
  const slow = Effect.acquireRelease(
    Effect.void,
    () => Effect.promise(() => gate.promise.then(() => log.push("slow off")))
  )
  const controller = new AbortController()
  const opened = await service.open(slow, { signal: controller.signal }, never)
  controller.abort()
  const closing = service.close()
  const late = await service.open(lamp("late"), {}, never).catch((error: unknown) => error)
  assert.match(String(late), /The service is closed/)
  gate.resolve()
  await Promise.all([closing, opened.close()])
  assert.deepStrictEqual(log, ["slow off", "service closed"])
  const call = await service.run(Effect.void, {}, never).catch((error: unknown) => error)
  assert.match(String(call), /The service is closed/)
})
