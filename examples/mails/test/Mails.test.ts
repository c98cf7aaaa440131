import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Scheduler } from "@kinora/scheduler"
import { TestTime } from "@kinora/testkit"
import { Clock, Effect, Layer, Queue } from "effect"
import * as Mails from "../src/Mails.ts"

const [first, second] = ["018f4f60-0000-7000-8000-000000000001", "018f4f60-0000-7000-8000-000000000002"]

/** A mail server that is busy for the first sends, with the times and subjects of all sends, and the mails that were given up. */
const makeServer = Effect.fnUntraced(function*(busyFor: number) {
  const sends = yield* Queue.unbounded<readonly [at: number, subject: string]>()
  const givenUp = yield* Queue.unbounded<string>()
  let count = 0
  const layer = Layer.succeed(Mails.MailServer, {
    send: Effect.fnUntraced(function*({ subject, to }) {
      yield* Queue.offer(sends, [yield* Clock.currentTimeMillis, subject])
      if (to === "nobody") return yield* new Mails.UnknownRecipient({ to })
      if (count++ < busyFor) return yield* new Mails.ServerBusy()
    }),
    giveUp: (job) => Effect.asVoid(Queue.offer(givenUp, job))
  })
  return { sends, givenUp, layer }
})

const layer = Mails.layer.pipe(Layer.provideMerge(Scheduler.layerMemory))

it.effect("sends a mail again with growing pauses while the server is busy", () =>
  Effect.gen(function*() {
    const { queue } = yield* Mails.Mails
    const { sends, ...server } = yield* makeServer(3)
    yield* Layer.build(Layer.provide(Mails.layerWorker, server.layer))
    yield* queue(first, { to: "ada", subject: "hello" })
    yield* TestTime.until(Effect.map(Queue.size(sends), (size) => size === 4), { step: "100 millis" })
    const all = yield* Queue.takeAll(sends)
    assert.deepStrictEqual(all.map(([, subject]) => subject), ["hello", "hello", "hello", "hello"])
    const pauses = all.slice(1).map(([at], index) => at - all[index]![0])
    // Pauses of 1, 2 and 4 seconds are up to a fifth shorter, and the worker polls once a second.
    assert.isTrue(
      pauses.every((pause, index) => pause >= 800 * 2 ** index && pause <= 1_100 + 1_000 * 2 ** index),
      pauses.join(", ")
    )
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("gives up after the fifth send to a busy server, and after the first to an unknown recipient", () =>
  Effect.gen(function*() {
    const { queue } = yield* Mails.Mails
    const { givenUp, sends, ...server } = yield* makeServer(100)
    yield* Layer.build(Layer.provide(Mails.layerWorker, server.layer))
    yield* queue(first, { to: "nobody", subject: "lost" })
    yield* TestTime.until(Effect.map(Queue.size(givenUp), (size) => size === 1))
    assert.strictEqual(yield* Queue.size(sends), 1)
    yield* queue(second, { to: "ada", subject: "late" })
    yield* TestTime.until(Effect.map(Queue.size(givenUp), (size) => size === 2))
    assert.deepStrictEqual(yield* Queue.takeAll(givenUp), [first, second])
    assert.strictEqual(yield* Queue.size(sends), 6)
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("queues no mail in a transaction that rolls back", () =>
  Effect.gen(function*() {
    const { queue } = yield* Mails.Mails
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const { find } = yield* Scheduler.Scheduler
    const mail = { to: "ada", subject: "never" }
    const failure = yield* Effect.flip(atomically(Effect.andThen(queue(first, mail), Effect.fail("rolled back"))))
    assert.strictEqual(failure, "rolled back")
    assert.deepStrictEqual(yield* find([first]), [])
    yield* atomically(queue(second, mail))
    assert.strictEqual((yield* find([second])).length, 1)
  }).pipe(Effect.provide(layer)))
