import { assert, layer } from "@effect/vitest"
import { Decision, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import type { AccountStore } from "../src/AccountStore.ts"
import type { KeyId } from "../src/ApiKey.ts"
import * as KeyBudget from "../src/KeyBudget.ts"
import * as KeySpending from "../src/KeySpending.ts"
import { isKnown, makeAccount, makeHost, makeKey, makeSpy, reasonOf } from "./Hosts.ts"

type Host = Effect.Success<ReturnType<typeof makeHost>>

const jobs = (limit: number) => ({ jobsPerDay: Option.some(limit) })
const use = (credits: number, jobs: number): KeySpending.Use => ({ credits, jobs })

/** Counts jobs with these credits in one unit, and returns which of them were accepted. */
const spend = Effect.fnUntraced(function*(
  host: Host,
  spends: ReadonlyArray<KeySpending.Spend>
) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  return yield* atomically(Effect.gen(function*() {
    const lines = yield* host.spending.load(
      spends.map(({ line }) => line),
      spends.map(({ at }) => at).reduce(DateTime.min)
    )
    const { results, state } = Decision.all(lines, spends, KeySpending.spend)
    yield* host.spending.save(state)
    return results.map(Result.isSuccess)
  }))
})

const spendOne = Effect.fnUntraced(function*(host: Host, line: KeyId, credits: number) {
  const [isAccepted] = yield* spend(host, [{ line, credits, at: yield* DateTime.now }])
  return isAccepted
})

const restore = Effect.fnUntraced(function*(host: Host, refund: KeySpending.Restore) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  yield* atomically(
    host.spending.load([refund.line], refund.chargedAt).pipe(
      Effect.map((lines) => KeySpending.restore(lines, refund)),
      Effect.flatMap(host.spending.save)
    )
  )
})

/** Returns what is used of the budget of the only line of an account. */
const usedOf = Effect.fnUntraced(function*(host: Host, account: Parameters<Host["listKeys"]>[0]) {
  const used = yield* host.spending.usedBy(yield* host.listKeys(account))
  assert.isAtMost(used.size, 1)
  return Array.from(used.values())[0]
})

const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Jobs of some lines in one unit. A job that `refunds` restores an earlier one instead. */
const Unit = Schema.Struct({
  days: count(40),
  jobs: Schema.Array(Schema.Struct({ line: count(2), credits: count(9), refunds: Schema.Boolean }))
    .check(Schema.isMaxLength(6))
})

/** The contract of budgets, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Budgets of keys (${name})`, (it) => {
    it.effect("returns the budget of a key with its record, and its line with its identity", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const budget: KeyBudget.KeyBudget = {
          creditsPerDay: Option.some(0),
          creditsPerMonth: Option.some(KeyBudget.limitMax),
          jobsPerDay: Option.none(),
          jobsPerMonth: Option.some(7)
        }
        const { key, record } = yield* host.createKey(account.id, "limited", {}, budget)
        assert.deepStrictEqual([record.budget, record.line], [budget, record.id])
        assert.deepStrictEqual(yield* host.listKeys(account.id), [record])
        const { budgetLine } = Option.getOrThrow(yield* host.authenticate(key))
        assert.strictEqual(budgetLine, record.id)
        const other = yield* host.createKey(account.id, "unlimited")
        assert.deepStrictEqual(other.record.budget, KeyBudget.unlimited)
        assert.notProperty(Option.getOrThrow(yield* host.authenticate(other.key)), "budgetLine")
        const revoked = yield* host.revokeKey(account.id, record.id)
        assert.deepStrictEqual([revoked.budget, revoked.line], [budget, record.id])
      }))

    it.effect("changes the limits that are given, within seconds on other hosts", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const other = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        const lineOn = (host: Host) =>
          Effect.map(host.authenticate(key), (identity) => Option.getOrThrow(identity).budgetLine)
        assert.isUndefined(yield* lineOn(other))
        const { changed: first } = yield* host.changeBudget(account.id, record.id, jobs(3))
        assert.deepStrictEqual(first.budget, { ...KeyBudget.unlimited, ...jobs(3) })
        assert.deepStrictEqual([yield* lineOn(host), yield* lineOn(other)], [record.id, undefined])
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* lineOn(other), record.id)
        const { changed: second, former } = yield* host.changeBudget(account.id, record.id, {
          creditsPerMonth: Option.some(5)
        })
        assert.deepStrictEqual(former, first.budget)
        assert.deepStrictEqual(second.budget, {
          ...KeyBudget.unlimited,
          ...jobs(3),
          creditsPerMonth: Option.some(5)
        })
        assert.deepStrictEqual(yield* host.listKeys(account.id), [second])
        const { changed: same } = yield* host.changeBudget(account.id, record.id, {})
        assert.deepStrictEqual([same, yield* host.listKeys(account.id)], [second, [second]])
        yield* host.changeBudget(account.id, record.id, KeyBudget.unlimited)
        assert.isUndefined(yield* lineOn(host))
      }))

    it.effect("rejects invalid limits, and changes of keys that have ended or that another account has", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, record } = yield* makeKey(host)
        for (const limit of [-1, 0.5, KeyBudget.limitMax + 1]) {
          assert.strictEqual(yield* reasonOf(host.createKey(account.id, "key", {}, jobs(limit))), "KeyBudgetInvalid")
          assert.strictEqual(yield* reasonOf(host.changeBudget(account.id, record.id, jobs(limit))), "KeyBudgetInvalid")
        }
        const stranger = yield* makeAccount(host)
        assert.strictEqual(yield* reasonOf(host.changeBudget(stranger.id, record.id, jobs(1))), "KeyNotFound")
        yield* host.revokeKey(account.id, record.id)
        assert.strictEqual(yield* reasonOf(host.changeBudget(account.id, record.id, jobs(1))), "KeyEnded")
        yield* host.remove(account.id)
        assert.strictEqual(yield* reasonOf(host.changeBudget(account.id, record.id, jobs(1))), "AccountDeleted")
        assert.deepStrictEqual((yield* host.listKeys(account.id)).map(({ budget }) => budget), [KeyBudget.unlimited])
      }))

    it.effect("a member sets limits up to those of an operator, and neither exceeds nor removes them", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const limits = { jobsPerDay: Option.some(10), creditsPerMonth: Option.some(100) }
        const { record } = yield* host.createKey(account.id, "key", {}, limits)
        const change = (limits: Partial<KeyBudget.KeyBudget>, author?: KeyBudget.BudgetAuthor) =>
          Effect.map(host.changeBudget(account.id, record.id, limits, author), ({ changed }) => changed)
        const refusalOf = (limits: Partial<KeyBudget.KeyBudget>) =>
          Effect.map(
            Effect.flip(change(limits, "member")),
            (error) =>
              error._tag === "AccountsError" && error.reason._tag === "BudgetFixed"
                ? [error.reason.budget, error.reason.limit]
                : error
          )
        assert.deepStrictEqual(record.budgetMax, { ...KeyBudget.unlimited, ...limits })

        for (const limit of [Option.some(11), Option.none()]) {
          assert.deepStrictEqual(yield* refusalOf({ jobsPerDay: limit }), ["jobsPerDay", 10])
        }
        const mixed = { creditsPerDay: Option.some(1), creditsPerMonth: Option.some(101) }
        assert.deepStrictEqual(yield* refusalOf(mixed), ["creditsPerMonth", 100])
        assert.deepStrictEqual(yield* host.listKeys(account.id), [record])

        yield* change({ ...jobs(3), creditsPerDay: Option.some(7) }, "member")
        yield* change(jobs(10), "member")
        const own = yield* change({ creditsPerDay: Option.none(), jobsPerMonth: Option.some(50) }, "member")
        assert.deepStrictEqual(own.budget, { ...KeyBudget.unlimited, ...limits, jobsPerMonth: Option.some(50) })
        assert.deepStrictEqual([own.budgetMax, yield* host.listKeys(account.id)], [record.budgetMax, [own]])

        const { record: rolled } = yield* host.rollKey(account.id, record.id, "1 hour")
        assert.deepStrictEqual(rolled.budgetMax, record.budgetMax)
        const raised = yield* change({ ...jobs(20), creditsPerMonth: Option.none() })
        assert.deepStrictEqual(raised.budgetMax, { ...KeyBudget.unlimited, ...jobs(20) })
        const removed = yield* change({ creditsPerMonth: Option.none() }, "member")
        assert.deepStrictEqual(removed.budget, { ...KeyBudget.unlimited, ...jobs(20), jobsPerMonth: Option.some(50) })
        assert.deepStrictEqual(yield* refusalOf(jobs(21)), ["jobsPerDay", 20])
      }))

    it.effect("a member changes and removes the limits that no operator has set", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record } = yield* host.createKey(account.id, "key", {}, jobs(1), null, "member")
        assert.deepStrictEqual([record.budget.jobsPerDay, record.budgetMax], [Option.some(1), KeyBudget.unlimited])
        for (const budget of [{ ...KeyBudget.unlimited, ...jobs(5) }, KeyBudget.unlimited]) {
          const { changed } = yield* host.changeBudget(account.id, record.id, budget, "member")
          assert.deepStrictEqual([changed.budget, changed.budgetMax], [budget, KeyBudget.unlimited])
          assert.deepStrictEqual(yield* host.listKeys(account.id), [changed])
        }
      }))

    it.effect("a rolled key shares the budget and what is used of it with the former keys", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record: first } = yield* host.createKey(account.id, "key", {}, jobs(2))
        const { record: second } = yield* host.rollKey(account.id, first.id, "1 hour")
        const { key, record: third } = yield* host.rollKey(account.id, second.id, "1 hour")
        assert.deepStrictEqual([second, third].map(({ line }) => line), [first.id, first.id])
        assert.deepStrictEqual(third.budget, first.budget)
        assert.strictEqual(Option.getOrThrow(yield* host.authenticate(key)).budgetLine, first.id)
        assert.isTrue(yield* spendOne(host, first.line, 1))
        assert.isTrue(yield* spendOne(host, third.line, 1))
        assert.isFalse(yield* spendOne(host, second.line, 1))
        assert.deepStrictEqual(yield* usedOf(host, account.id), { day: use(2, 2), month: use(2, 2) })
        const shared = yield* host.spending.budgetOf(third.line)
        assert.deepStrictEqual(Option.getOrThrow(shared), {
          budget: first.budget,
          used: { day: use(2, 2), month: use(2, 2) }
        })
        yield* host.changeBudget(account.id, third.id, jobs(3))
        const budgets = (yield* host.listKeys(account.id)).map(({ budget }) => budget.jobsPerDay)
        assert.deepStrictEqual(budgets, Array(3).fill(Option.some(3)))
        const { record: other } = yield* host.createKey(account.id, "unlimited")
        assert.isTrue(Option.isNone(yield* host.spending.budgetOf(other.line)))
      }))

    it.effect("a budget that a key gets later limits the keys that were rolled before", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        const { record: rolled } = yield* host.rollKey(account.id, record.id, "1 hour")
        yield* host.changeBudget(account.id, rolled.id, jobs(1))
        assert.strictEqual(Option.getOrThrow(yield* host.authenticate(key)).budgetLine, record.id)
      }))

    it.effect("concurrent units of several hosts never exceed a budget", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost()]
        const account = yield* makeAccount(hosts[0]!)
        const { record } = yield* hosts[0]!.createKey(account.id, "key", {}, jobs(7))
        const at = yield* DateTime.now
        const accepted = yield* Effect.forEach(
          Array.from({ length: 10 }, (_, index) => hosts[index % 2]!),
          (host) => spend(host, [{ line: record.line, credits: 2, at }, { line: record.line, credits: 2, at }]),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(accepted.flat().filter(Boolean).length, 7)
        assert.deepStrictEqual((yield* usedOf(hosts[0]!, account.id))?.day, use(14, 7))
      }))

    it.effect("the budget that is stored under the lock decides", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record } = yield* host.createKey(account.id, "key", {}, jobs(1))
        yield* host.changeBudget(account.id, record.id, jobs(0))
        assert.isFalse(yield* spendOne(host, record.line, 1))
        const checked = yield* host.spending.check({ line: record.line, credits: 1, at: yield* DateTime.now })
        assert.deepInclude(Option.getOrThrow(Result.getFailure(checked)), { budget: "jobsPerDay", limit: 0, used: 0 })
        yield* host.changeBudget(account.id, record.id, KeyBudget.unlimited)
        assert.isTrue(yield* spendOne(host, record.line, 1))
        assert.isUndefined(yield* usedOf(host, account.id))
      }))

    it.effect("a unit that fails counts nothing", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record } = yield* host.createKey(account.id, "key", {}, jobs(1))
        yield* Effect.exit(atomically(Effect.andThen(spendOne(host, record.line, 1), Effect.fail("no"))))
        assert.deepStrictEqual((yield* usedOf(host, account.id))?.day, use(0, 0))
        const outside = yield* Effect.exit(host.spending.load([record.line], yield* DateTime.now))
        assert.include(String(outside), "inside a unit of work")
      }))

    it.effect("what is used resets at 00:00 UTC, and a refund afterwards restores the day of the charge", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record: { line } } = yield* host.createKey(account.id, "key", {}, {
          jobsPerDay: Option.some(1),
          creditsPerMonth: Option.some(10)
        })
        yield* TestClock.setTime(Date.UTC(2032, 1, 28, 23, 59, 59, 999))
        const chargedAt = yield* DateTime.now
        assert.isTrue(yield* spendOne(host, line, 6))
        assert.isFalse(yield* spendOne(host, line, 1))
        yield* TestClock.adjust("1 milli")
        assert.deepStrictEqual(yield* usedOf(host, account.id), { day: use(0, 0), month: use(6, 1) })
        assert.isFalse(yield* spendOne(host, line, 5))
        yield* restore(host, { line, credits: 6, chargedAt })
        assert.deepStrictEqual(yield* usedOf(host, account.id), { day: use(0, 0), month: use(0, 0) })
        assert.isTrue(yield* spendOne(host, line, 10))
        yield* TestClock.setTime(Date.UTC(2032, 2, 1))
        assert.deepStrictEqual(yield* usedOf(host, account.id), { day: use(0, 0), month: use(0, 0) })
        assert.isTrue(yield* spendOne(host, line, 10))
      }))

    it.effect("deletes the spending of a month a day after its end, and ignores refunds of it", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const { record: { line } } = yield* host.createKey(account.id, "key", {}, jobs(5))
        yield* TestClock.setTime(Date.UTC(2033, 4, 30, 12))
        yield* host.spending.deleteOld(1_000)
        const chargedAt = yield* DateTime.now
        yield* spendOne(host, line, 1)
        yield* TestClock.adjust("1 day")
        yield* spendOne(host, line, 1)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* host.spending.deleteOld(1_000), 0)
        yield* spendOne(host, line, 1)
        yield* TestClock.adjust("12 hours")
        assert.strictEqual(yield* host.spending.deleteOld(1), 1)
        assert.strictEqual(yield* host.spending.deleteOld(1_000), 1)
        yield* restore(host, { line, credits: 1, chargedAt })
        assert.deepStrictEqual(yield* usedOf(host, account.id), { day: use(0, 0), month: use(1, 1) })
      }))

    it.effect("a line ends with its last key, and with its account", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const spy = yield* makeSpy()
        const host = yield* spy.host()
        yield* TestClock.setTime(Date.UTC(2034, 0, 1))
        yield* host.deleteRevokedKeys(0, 1_000)
        const account = yield* makeAccount(host)
        const { record: first } = yield* host.createKey(account.id, "first", {}, jobs(5))
        const { record: other } = yield* host.createKey(account.id, "other", {}, jobs(5))
        const { key, record: second } = yield* host.rollKey(account.id, first.id, 0)
        const exists = Effect.fnUntraced(function*(line: KeyId) {
          return (yield* atomically(host.spending.load([line], yield* DateTime.now))).has(line)
        })
        yield* spendOne(host, first.line, 1)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* host.deleteRevokedKeys("1 hour", 10), 1)
        assert.isTrue(yield* exists(first.line))
        assert.isTrue(yield* isKnown(host, key))
        yield* host.revokeKey(account.id, second.id)
        yield* TestClock.adjust("1 day")
        // Deletion skips a key whose use is being recorded.
        yield* spy.written
        assert.strictEqual(yield* host.deleteRevokedKeys("1 hour", 10), 1)
        assert.deepStrictEqual([yield* exists(first.line), yield* exists(other.line)], [false, true])
        yield* host.remove(account.id)
        yield* host.erase(account.id)
        assert.isFalse(yield* exists(other.line))
      }))

    let runs = 0

    it.effect.prop(
      "counts any jobs and refunds of several lines as the rules do",
      [Schema.Array(Unit).check(Schema.isMaxLength(12))],
      ([units]) =>
        Effect.gen(function*() {
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const host = yield* makeHost()
          const account = yield* makeAccount(host)
          const budget = {
            creditsPerDay: Option.some(12),
            creditsPerMonth: Option.some(60),
            jobsPerDay: Option.some(4)
          }
          const keys = yield* Effect.forEach(
            [budget, budget, {}],
            (budget) => host.createKey(account.id, "key", {}, budget)
          )
          const ids = keys.map(({ record }) => record.line)
          const start = DateTime.makeUnsafe(Date.UTC(2040 + runs++, 10, 20, 12))
          let expected: KeySpending.KeyLines = new Map(
            keys.slice(0, 2).map(({ record: { budget, line } }) => [
              line,
              { id: line, budget, spending: new Map(), changed: new Set() }
            ])
          )
          const counted: Array<KeySpending.Restore> = []
          for (const { days, jobs } of units) {
            const at = DateTime.add(start, { days })
            yield* atomically(Effect.gen(function*() {
              let lines = yield* host.spending.load(ids, start)
              assert.deepStrictEqual(plain(lines), plain(expected))
              for (const { credits, line, refunds } of jobs) {
                const refund = refunds ? counted.pop() : undefined
                if (refund !== undefined) {
                  lines = KeySpending.restore(lines, refund)
                  continue
                }
                const decided = KeySpending.spend(lines, { line: ids[line]!, credits, at })
                if (Result.isFailure(decided)) continue
                lines = decided.success.state
                if (decided.success.value) counted.push({ line: ids[line]!, credits, chargedAt: at })
              }
              yield* host.spending.save(lines)
              expected = lines
            }))
          }
          assert.deepStrictEqual(plain(yield* atomically(host.spending.load(ids, start))), plain(expected))
        }),
      { arbitrary: { runs: 25 } }
    )
  })

/** Returns the budgets and the days of lines, in order. */
const plain = (lines: KeySpending.KeyLines) =>
  Array.from(lines.values(), ({ budget, id, spending }) => ({
    id,
    budget,
    days: Array.from(spending).toSorted(([a], [b]) => a < b ? -1 : 1)
  })).toSorted((a, b) => a.id < b.id ? -1 : 1)
