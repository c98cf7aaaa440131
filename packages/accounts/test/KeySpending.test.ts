import { assert, it } from "@effect/vitest"
import { Decision } from "@kinora/persistence"
import { DateTime, Effect, Option, Result, Schema } from "effect"
import { KeyId } from "../src/ApiKey.ts"
import * as KeyBudget from "../src/KeyBudget.ts"
import * as KeySpending from "../src/KeySpending.ts"

const line = KeyId.fromUuid("01900000-0000-7000-8000-000000000001")
const other = KeyId.fromUuid("01900000-0000-7000-8000-000000000002")
const utc = DateTime.makeUnsafe
const noon = utc("2026-11-30T12:00:00.000Z")

/** Returns lines without spending. */
const linesOf = (budget: KeyBudget.KeyBudget, ids = [line]): KeySpending.KeyLines =>
  new Map(ids.map((id) => [id, { id, budget, spending: new Map(), changed: new Set() }]))

const spendingOf = (lines: KeySpending.KeyLines, id = line): KeySpending.Spending =>
  lines.get(id)?.spending ?? new Map()

/** Returns the lines with another budget. */
const withBudget = (lines: KeySpending.KeyLines, budget: KeyBudget.KeyBudget): KeySpending.KeyLines =>
  new Map(Array.from(lines, ([id, line]) => [id, { ...line, budget }]))

const budgetOf = (limits: Partial<Record<KeyBudget.BudgetName, number>>): KeyBudget.KeyBudget => ({
  creditsPerDay: Option.fromUndefinedOr(limits.creditsPerDay),
  creditsPerMonth: Option.fromUndefinedOr(limits.creditsPerMonth),
  jobsPerDay: Option.fromUndefinedOr(limits.jobsPerDay),
  jobsPerMonth: Option.fromUndefinedOr(limits.jobsPerMonth)
})

/** Returns the line after jobs with these credits, each of which the budget allows. */
const afterJobs = (budget: KeyBudget.KeyBudget, jobs: ReadonlyArray<readonly [credits: number, at: DateTime.Utc]>) => {
  const { results, state } = Decision.all(
    linesOf(budget),
    jobs,
    (state, [credits, at]) => KeySpending.spend(state, { line, credits, at })
  )
  assert.isTrue(results.every(Result.isSuccess))
  return state
}

const refusal = (
  lines: KeySpending.KeyLines,
  credits: number,
  at: DateTime.Utc
): KeySpending.BudgetExceeded | undefined =>
  Option.getOrUndefined(Result.getFailure(KeySpending.spend(lines, { line, credits, at })))

it.effect("a job may use what is left of each limit, and no more", () =>
  Effect.sync(() => {
    const cases = [
      [{ creditsPerDay: 10 }, { budget: "creditsPerDay", limit: 10, used: 6, required: 5 }, "2026-12-01"],
      [{ creditsPerMonth: 10 }, { budget: "creditsPerMonth", limit: 10, used: 6, required: 5 }, "2026-12-01"],
      [{ jobsPerDay: 1 }, { budget: "jobsPerDay", limit: 1, used: 1, required: 1 }, "2026-12-01"],
      [{ jobsPerMonth: 1 }, { budget: "jobsPerMonth", limit: 1, used: 1, required: 1 }, "2026-12-01"]
    ] as const
    for (const [limits, expected, resetsOn] of cases) {
      const budget = budgetOf(limits)
      const used = afterJobs(budget, [[6, noon]])
      assert.deepStrictEqual(refusal(used, 5, noon), {
        ...expected,
        resetsAt: utc(`${resetsOn}T00:00:00.000Z`)
      })
    }
    const budget = budgetOf({ creditsPerDay: 10, creditsPerMonth: 10 })
    assert.isUndefined(refusal(afterJobs(budget, [[6, noon]]), 4, noon))
    assert.strictEqual(refusal(linesOf(budgetOf({ jobsPerDay: 0 })), 0, noon)?.budget, "jobsPerDay")
  }))

it.effect("days and months end at 00:00 UTC", () =>
  Effect.sync(() => {
    const budget = budgetOf({ jobsPerDay: 1, jobsPerMonth: 2 })
    const used = afterJobs(budget, [[1, utc("2027-02-26T23:59:59.999Z")], [1, utc("2027-02-27T00:00:00.000Z")]])
    const lastMoment = utc("2027-02-28T23:59:59.999Z")
    assert.deepStrictEqual(refusal(used, 1, lastMoment), {
      budget: "jobsPerMonth",
      limit: 2,
      used: 2,
      required: 1,
      resetsAt: utc("2027-03-01T00:00:00.000Z")
    })
    assert.isUndefined(refusal(used, 1, utc("2027-03-01T00:00:00.000Z")))
    const december = afterJobs(budgetOf({ creditsPerMonth: 1 }), [[1, utc("2026-12-05T00:00:00.000Z")]])
    assert.deepStrictEqual(
      refusal(december, 1, utc("2026-12-31T12:00:00.000Z"))?.resetsAt,
      utc("2027-01-01T00:00:00.000Z")
    )
  }))

it.effect("a job that exceeds a day and a month is refused until the month ends", () =>
  Effect.sync(() => {
    const at = utc("2026-11-10T12:00:00.000Z")
    const budget = budgetOf({ creditsPerDay: 5, jobsPerDay: 1, jobsPerMonth: 1 })
    const exceeded = refusal(afterJobs(budget, [[5, at]]), 5, at)
    assert.strictEqual(exceeded?.budget, "jobsPerMonth")
    assert.deepStrictEqual(exceeded?.resetsAt, utc("2026-12-01T00:00:00.000Z"))
  }))

it.effect("a job without credits counts as a job, and is not refused for credits", () =>
  Effect.sync(() => {
    const budget = budgetOf({ creditsPerDay: 5, creditsPerMonth: 5 })
    const used = afterJobs(budget, [[5, noon], [0, noon]])
    assert.deepStrictEqual(KeySpending.usedAt(spendingOf(used), noon).day, { credits: 5, jobs: 2 })
    // The limit is lower than what is used after an operator has lowered it.
    assert.isUndefined(refusal(withBudget(used, budgetOf({ creditsPerDay: 1 })), 0, noon))
  }))

it.effect("a refusal changes nothing, and lines do not share what they use", () =>
  Effect.sync(() => {
    const budget = budgetOf({ jobsPerDay: 1 })
    const { results, state } = Decision.all(linesOf(budget, [line, other]), [line, line, other, other], (state, line) =>
      KeySpending.spend(state, { line, credits: 3, at: noon }))
    assert.deepStrictEqual(results.map(Result.isSuccess), [true, false, true, false])
    assert.deepStrictEqual(spendingOf(state), new Map([[KeySpending.dayOf(noon), { credits: 3, jobs: 1 }]]))
    assert.deepStrictEqual(spendingOf(state, other), spendingOf(state))
  }))

it.effect("a refund lowers the day and the month of its charge", () =>
  Effect.sync(() => {
    const yesterday = DateTime.subtract(noon, { days: 1 })
    const budget = budgetOf({ creditsPerMonth: 9 })
    const used = afterJobs(budget, [[4, yesterday], [5, noon]])
    const restored = KeySpending.restore(used, { line, credits: 4, chargedAt: yesterday })
    const spending = spendingOf(restored)
    assert.deepStrictEqual(KeySpending.usedAt(spending, yesterday).day, { credits: 0, jobs: 0 })
    assert.deepStrictEqual(KeySpending.usedAt(spending, noon), {
      day: { credits: 5, jobs: 1 },
      month: { credits: 5, jobs: 1 }
    })
    assert.isUndefined(refusal(restored, 4, noon))
    const untouched = linesOf(budget)
    assert.strictEqual(KeySpending.restore(untouched, { line, credits: 4, chargedAt: noon }), untouched)
    assert.strictEqual(KeySpending.restore(untouched, { line: other, credits: 4, chargedAt: noon }), untouched)
    const again = KeySpending.restore(restored, { line, credits: 4, chargedAt: yesterday })
    assert.deepStrictEqual(spendingOf(again), spending)
  }))

it.effect("a line without a budget counts nothing", () =>
  Effect.sync(() => {
    for (const lines of [linesOf(KeyBudget.unlimited), linesOf(budgetOf({ jobsPerDay: 0 }), [other])]) {
      const decided = Result.getOrThrow(KeySpending.spend(lines, { line, credits: 5, at: noon }))
      assert.deepStrictEqual(decided, { state: lines, value: false })
    }
  }))

it.effect("the changes are the days whose use differs from what was loaded", () =>
  Effect.sync(() => {
    const yesterday = DateTime.subtract(noon, { days: 1 })
    const budget = budgetOf({ jobsPerMonth: 9 })
    const loaded: KeySpending.KeyLines = new Map([[line, {
      id: line,
      budget,
      spending: new Map([["2026-11-28", { credits: 1, jobs: 1 }], ["2026-11-29", { credits: 2, jobs: 1 }]]),
      changed: new Set()
    }]])
    assert.deepStrictEqual(KeySpending.changesOf(loaded), [])
    const restored = KeySpending.restore(loaded, { line, credits: 2, chargedAt: yesterday })
    const { state } = Result.getOrThrow(KeySpending.spend(restored, { line, credits: 4, at: noon }))
    assert.deepStrictEqual(KeySpending.changesOf(state), [
      { line, day: "2026-11-29", credits: 0, jobs: 0 },
      { line, day: "2026-11-30", credits: 4, jobs: 1 }
    ])
  }))

const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** A job, and the place of the job to refund after it among those that are not refunded. */
const Step = Schema.Struct({ credits: count(9), days: count(12), refunds: count(40) })

type Job = { readonly credits: number; readonly at: DateTime.Utc }

const sumOf = (jobs: ReadonlyArray<Job>, period: string): KeySpending.Use => {
  const counted = jobs.filter(({ at }) => KeySpending.dayOf(at).startsWith(period))
  return { credits: counted.reduce((sum, { credits }) => sum + credits, 0), jobs: counted.length }
}

it.prop(
  "any order of jobs and refunds keeps the counters at the sum of the jobs that are not refunded",
  [Schema.Array(Step).check(Schema.isMinLength(20), Schema.isMaxLength(60))],
  ([steps]) => {
    const budget = budgetOf({ creditsPerDay: 20, creditsPerMonth: 50, jobsPerDay: 4, jobsPerMonth: 9 })
    let state = linesOf(budget)
    const jobs: Array<Job> = []
    for (const { credits, days, refunds } of steps) {
      const at = DateTime.add(noon, { days })
      const day = KeySpending.dayOf(at)
      const month = day.slice(0, "YYYY-MM".length)
      const today = sumOf(jobs, day)
      const thisMonth = sumOf(jobs, month)
      const decided = KeySpending.spend(state, { line, credits, at })
      const isAllowed = today.jobs < 4 && thisMonth.jobs < 9 &&
        (credits === 0 || today.credits + credits <= 20 && thisMonth.credits + credits <= 50)
      assert.strictEqual(Result.isSuccess(decided), isAllowed)
      if (Result.isSuccess(decided)) {
        state = decided.success.state
        jobs.push({ credits, at })
      }
      for (const refunded of jobs.splice(refunds, 1)) {
        state = KeySpending.restore(state, { line, credits: refunded.credits, chargedAt: refunded.at })
      }
      assert.deepStrictEqual(KeySpending.usedAt(spendingOf(state), at), {
        day: sumOf(jobs, day),
        month: sumOf(jobs, month)
      })
    }
  },
  { arbitrary: { runs: 300 } }
)

it.effect("limits are whole numbers from 0", () =>
  Effect.sync(() => {
    for (const limit of [0, 1, KeyBudget.limitMax]) {
      assert.isUndefined(KeyBudget.problemOf(budgetOf({ jobsPerDay: limit })))
    }
    for (const limit of [-1, 0.5, Number.NaN, Infinity, KeyBudget.limitMax + 1]) {
      assert.isDefined(KeyBudget.problemOf(budgetOf({ creditsPerMonth: limit })))
    }
    assert.isTrue(KeyBudget.isUnlimited(KeyBudget.unlimited))
    assert.isFalse(KeyBudget.isUnlimited(budgetOf({ jobsPerDay: 0 })))
  }))
