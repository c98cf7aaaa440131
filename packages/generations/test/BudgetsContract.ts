import { assert, layer } from "@effect/vitest"
import { Accounts } from "@kinora/accounts/Accounts"
import { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Failure, Generations } from "../src/Generations.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { type layerMemory, openLimited, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>
type Limited = Effect.Success<ReturnType<typeof openLimited>>

/** Price of one image of the default model. */
const price = 8
const studio = { plan: "studio", model: "kinora-draft" } as const

const createAs = Effect.fnUntraced(function*({ account, budgetLine }: Limited, key: string, options = {}) {
  const { create } = yield* Generations
  return yield* create(yield* request(account, { key, budgetLine, ...options }))
})

/** Returns the refusal of an effect. */
const refusalOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "GenerationError" ? error.reason : assert.fail(error._tag))

/** Returns the credits and jobs that the key has used today and in this month. */
const usedBy = Effect.fnUntraced(function*({ account, budgetLine }: Limited) {
  const { listKeys, spending } = yield* Accounts
  const used = (yield* spending.usedBy(yield* listKeys(account.id))).get(budgetLine)
  assert.isDefined(used)
  return [[used.day.credits, used.day.jobs], [used.month.credits, used.month.jobs]]
})

const creditsOf = Effect.fnUntraced(function*({ account }: Limited) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account.id, yield* DateTime.now)).credits
})

const assertSound = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
  assert.deepStrictEqual(yield* scheduler.verify, [])
})

/** Budgets of keys on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Budgets of API keys (${name})`, (it) => {
    // The first test, since its worker would also run the jobs of earlier ones.
    it.effect("restores the budget when a job is cancelled or failed by an operator, a worker or a sweep", () =>
      Effect.gen(function*() {
        const { cancel, fail, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const limited = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(5) } })
        const { id } = limited.account
        const [cancelled, failed, broken, done] = yield* Effect.forEach(
          ["cancelled", "failed", "broken", "done"],
          (key) => Effect.map(createAs(limited, key), ({ generation }) => generation)
        )
        yield* cancel(id, cancelled!.id)
        assert.deepStrictEqual((yield* usedBy(limited))[0], [3 * price, 3])
        yield* fail(id, failed!.id)
        yield* fail(id, failed!.id)
        assert.deepStrictEqual((yield* usedBy(limited))[0], [2 * price, 2])
        const failure = new GeneratorError.Permanent({ code: "generation_failed", reason: null, message: "No." })
        yield* control.fail(broken!.id, failure)
        yield* control.succeed(done!.id)
        yield* startWorker()
        yield* wait(id, broken!.id, "30 seconds")
        yield* wait(id, done!.id, "30 seconds")
        assert.deepStrictEqual(yield* usedBy(limited), [[price, 1], [price, 1]])
        yield* assertSound
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("refuses a job that would exceed the budget, and charges nothing", () =>
      Effect.gen(function*() {
        const limited = yield* openLimited({ credits: 100, budget: { creditsPerDay: Option.some(2 * price - 1) } })
        const { generation } = yield* createAs(limited, "one")
        assert.strictEqual(generation.keyLine, limited.budgetLine)
        const now = yield* DateTime.now
        const refusal = yield* refusalOf(createAs(limited, "two"))
        assert.deepInclude(refusal, {
          _tag: "KeyBudgetExceeded",
          plan: "credits",
          budget: "creditsPerDay",
          limit: 2 * price - 1,
          used: price,
          required: price
        })
        assert.isTrue(
          refusal._tag === "KeyBudgetExceeded" &&
            DateTime.Equivalence(refusal.resetsAt, DateTime.add(DateTime.removeTime(now), { days: 1 }))
        )
        assert.deepStrictEqual([yield* creditsOf(limited), yield* usedBy(limited)], [92, [[price, 1], [price, 1]]])
        // The same request succeeds once the budget allows it.
        const { changeBudget } = yield* Accounts
        yield* changeBudget(limited.account.id, limited.key.id, { creditsPerDay: Option.some(2 * price) })
        assert.isFalse((yield* createAs(limited, "two")).replayed)
        yield* assertSound
      }))

    it.effect("replays a job although the budget is used up", () =>
      Effect.gen(function*() {
        const limited = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(1) } })
        const { generation } = yield* createAs(limited, "one")
        const again = yield* createAs(limited, "one")
        assert.deepStrictEqual([again.replayed, again.generation.id], [true, generation.id])
        const [one, two] = yield* Effect.all([createAs(limited, "one"), Effect.result(createAs(limited, "two"))], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual([one.replayed, Result.isFailure(two)], [true, true])
      }))

    it.effect("counts a studio job as a job without credits", () =>
      Effect.gen(function*() {
        const budget = { creditsPerMonth: Option.some(0), jobsPerMonth: Option.some(1) }
        const limited = yield* openLimited({ credits: 100, budget })
        yield* createAs(limited, "one", studio)
        assert.deepStrictEqual(yield* usedBy(limited), [[0, 1], [0, 1]])
        assert.deepInclude(yield* refusalOf(createAs(limited, "two", studio)), {
          budget: "jobsPerMonth",
          plan: "studio"
        })
        assert.deepInclude(yield* refusalOf(createAs(limited, "three")), { budget: "creditsPerMonth" })
      }))

    it.effect("does not count jobs of keys without a budget, nor refused jobs", () =>
      Effect.gen(function*() {
        const limited = yield* openLimited({ credits: price, budget: { jobsPerDay: Option.some(9) } })
        const { create } = yield* Generations
        yield* create(yield* request(limited.account, { key: "other" }))
        assert.strictEqual((yield* refusalOf(createAs(limited, "one")))._tag, "InsufficientCredits")
        assert.deepStrictEqual(yield* usedBy(limited), [[0, 0], [0, 0]])
        const { changeBudget } = yield* Accounts
        yield* changeBudget(limited.account.id, limited.key.id, { jobsPerDay: Option.none() })
        // The command still has the line, as one whose key is cached.
        const { generation } = yield* createAs(limited, "two", studio)
        assert.notProperty(generation, "keyLine")
      }))

    it.effect("concurrent jobs never exceed the budget", () =>
      Effect.gen(function*() {
        const limited = yield* openLimited({ credits: 1_000, budget: { creditsPerDay: Option.some(7 * price) } })
        const results = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => `key ${n}`),
          (key) => Effect.result(createAs(limited, key)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(results.filter(Result.isSuccess).length, 7)
        assert.deepStrictEqual([yield* creditsOf(limited), yield* usedBy(limited)], [1_000 - 56, [[56, 7], [56, 7]]])
        yield* assertSound
      }))

    it.effect("a refund after midnight restores the day of the charge", () =>
      Effect.gen(function*() {
        const { cancel } = yield* Generations
        const { dropStale } = yield* GenerationSweep
        // The last minute of a day in the middle of a month.
        const start = DateTime.startOf(DateTime.add(yield* DateTime.now, { months: 1 }), "month")
        yield* TestClock.setTime(DateTime.add(start, { days: 9, hours: 23, minutes: 59 }).epochMilliseconds)
        const budget = { creditsPerDay: Option.some(2 * price), jobsPerMonth: Option.some(3) }
        const limited = yield* openLimited({ credits: 100, budget })
        const { generation } = yield* createAs(limited, "late")
        yield* createAs(limited, "stale")
        yield* TestTime.advance("2 minutes")
        assert.deepStrictEqual(yield* usedBy(limited), [[0, 0], [2 * price, 2]])
        yield* createAs(limited, "next day")
        assert.deepInclude(yield* refusalOf(createAs(limited, "too many")), { budget: "jobsPerMonth" })
        yield* cancel(limited.account.id, generation.id)
        assert.deepStrictEqual(yield* usedBy(limited), [[price, 1], [2 * price, 2]])
        yield* TestTime.advance("86310 seconds")
        yield* dropStale(100)
        assert.deepStrictEqual(yield* usedBy(limited), [[price, 1], [price, 1]])
        yield* assertSound
      }))

    it.effect("a rolled key continues the budget", () =>
      Effect.gen(function*() {
        const { rollKey } = yield* Accounts
        const limited = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(2) } })
        yield* createAs(limited, "one")
        const { record } = yield* rollKey(limited.account.id, limited.key.id, "1 hour")
        const rolled = { ...limited, key: record, budgetLine: record.line }
        yield* createAs(rolled, "two")
        for (const key of [limited, rolled]) {
          assert.strictEqual((yield* refusalOf(createAs(key, "three")))._tag, "KeyBudgetExceeded")
        }
      }))

    it.effect("refuses a job with images before it stores them", () =>
      Effect.gen(function*() {
        const limited = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(0) } })
        // The image is not base64, so that the check of the images would refuse it.
        const params = { prompt: "a lake", images: [{ data: "?" }] }
        assert.strictEqual(
          (yield* refusalOf(createAs(limited, "one", { model: "redraw-1", params })))._tag,
          "KeyBudgetExceeded"
        )
      }))
  })
}
