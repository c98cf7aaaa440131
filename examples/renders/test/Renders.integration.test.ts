import { assert, it } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { Scheduler } from "@kinora/scheduler"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer, Queue } from "effect"
import * as Renders from "../src/Renders.ts"

/** Grants a customer the credits of some scenes. */
const open = (customer: string, scenes: number) =>
  Effect.gen(function*() {
    const { grant } = yield* Ledger.Ledger
    const at = yield* DateTime.now
    const expiresAt = DateTime.add(at, { days: 30 })
    yield* grant({
      account: customer,
      reference: "start",
      kind: "addon",
      credits: scenes * Renders.price,
      expiresAt,
      at
    })
  })

const creditsOf = (customer: string) =>
  Effect.gen(function*() {
    const { balances } = yield* Ledger.Ledger
    return (yield* balances(customer, yield* DateTime.now)).credits
  })

for (const [name, database] of TestDatabase.all) {
  it.live(`renders each ordered scene once, and refunds the one that fails (${name})`, () =>
    Effect.gen(function*() {
      const { order } = yield* Renders.Renders
      yield* open("ada", 2)
      const dawn = { customer: "ada", key: "k-1", scene: "dawn" }
      // The client of a request that had no response sends it again, several times at once.
      const jobs = yield* Effect.all(Array.from({ length: 10 }, () => order(dawn)), { concurrency: "unbounded" })
      assert.strictEqual(new Set(jobs).size, 1)
      yield* order({ customer: "ada", key: "k-2", scene: "storm" })
      assert.strictEqual(yield* creditsOf("ada"), 0)

      const refused = yield* Effect.flip(order({ customer: "ada", key: "k-3", scene: "noon" }))
      assert.strictEqual(refused._tag === "LedgerError" && refused.reason._tag, "InsufficientCredits")
      yield* open("bea", 1)
      const { waiting } = yield* Scheduler.Scheduler
      assert.strictEqual((yield* waiting(0, 10)).length, 2)

      const rendered = yield* Queue.unbounded<string>()
      const render = (_: string, scene: string) =>
        Effect.andThen(
          Queue.offer(rendered, scene),
          scene === "storm" ? Effect.fail("the lights went out") : Effect.void
        )
      yield* Layer.build(Renders.layerWorker(render))
      // One slot per customer, so Ada's scenes are rendered in their order.
      assert.deepStrictEqual([yield* Queue.take(rendered), yield* Queue.take(rendered)], ["dawn", "storm"])
      yield* Effect.repeat(creditsOf("ada"), { until: (credits) => credits === Renders.price })
      const { verify } = yield* Ledger.Ledger
      assert.deepStrictEqual((yield* verify({ account: "ada" })).discrepancies, [])
    }).pipe(Effect.provide(Renders.layer.pipe(Layer.provideMerge(database))), Effect.scoped))
}
