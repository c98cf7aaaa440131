/** The spans of a send, and the absence of spans while tracing is disabled. */
import { assert, describe, it } from "@effect/vitest"
import { AddressGuard, AddressRefused } from "@kinora/address-guard/AddressGuard"
import { Effect, Option, Queue, References, type Tracer } from "effect"
import * as UndiciTransport from "../src/UndiciTransport.ts"
import { body } from "./receivers.ts"
import { makeWorld, memory, ok } from "./SendingWorld.ts"

/** The span in which a worker makes a request. */
const spansOfSend = Effect.gen(function*() {
  const world = yield* makeWorld
  yield* world.start()
  const endpoint = yield* world.endpoint()
  const spans = yield* Queue.unbounded<Option.Option<Tracer.Span>>()
  world.answer(endpoint, () =>
    Effect.option(Effect.currentSpan).pipe(
      Effect.flatMap((span) => Queue.offer(spans, span)),
      Effect.as(ok)
    ))
  yield* world.publish(endpoint)
  return yield* Queue.take(spans)
}).pipe(Effect.provide(memory))

/** The name of the span in which a transport checks an address. */
const spanOfCheck = Effect.gen(function*() {
  const found: Array<string | undefined> = []
  const check = () =>
    Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
      found.push(Option.getOrUndefined(span)?.name)
      return Effect.fail(new AddressRefused({ problem: "address", message: "test" }))
    })
  const transport = yield* Effect.provideService(UndiciTransport.make({}), AddressGuard, { check })
  yield* transport.send({ url: "https://hooks.example.com/", headers: {}, body })
  return found
})

const untraced = Effect.provideService(References.TracerEnabled, false)

describe("spans", () => {
  it.effect("a send has a span without a parent, and with its attempt", () =>
    Effect.gen(function*() {
      const span = Option.getOrThrow(yield* spansOfSend)
      assert.strictEqual(span.name, "DeliveryWorker.send")
      assert.isTrue(Option.isNone(span.parent))
      assert.deepStrictEqual([...span.attributes], [["attempt", 1]])
    }))

  it.effect("a request has a span", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* spanOfCheck, ["Transport.send"])
    }))

  it.effect("there is none while tracing is disabled", () =>
    Effect.gen(function*() {
      assert.isTrue(Option.isNone(yield* spansOfSend))
      assert.deepStrictEqual(yield* spanOfCheck, [undefined])
    }).pipe(untraced))
})
