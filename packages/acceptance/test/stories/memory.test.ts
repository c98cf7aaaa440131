/** Random stories of clients and hosts under faults, in memory and in virtual time. `npm run stories` has more seeds. */
import { assert, describe, it } from "@effect/vitest"
import { AccountStore } from "@kinora/accounts"
import { IdempotencyStore } from "@kinora/idempotency"
import { LedgerStore } from "@kinora/ledger"
import { Effect, Layer } from "effect"
import * as Backend from "../../src/stories/Backend.ts"
import * as Stories from "../../src/stories/Stories.ts"
import type * as Story from "../../src/stories/Story.ts"
import { lostAttempt } from "./lostAttempt.ts"

/** Number of stories of a test run. Each takes 65 milliseconds of processor time. */
const count = 1_000

/** The database of a product that forgets the keys of requests. */
const forgetful: Backend.Backend = {
  ...Backend.memory,
  open: (still) =>
    Effect.map(Backend.memory.open(still), (database) => ({
      ...database,
      stores: (faults) => forgetting.pipe(Layer.provideMerge(database.stores(faults)))
    }))
}

/** The database of a product that only ever raises what API keys have spent. */
const withoutRefunds: Backend.Backend = {
  ...Backend.memory,
  open: (still) =>
    Effect.map(Backend.memory.open(still), (database) => ({
      ...database,
      stores: (faults) => raising.pipe(Layer.provideMerge(database.stores(faults)))
    }))
}

/** The database of a product that does not return the quotas of jobs that fail. */
const withoutReturns: Backend.Backend = {
  ...Backend.memory,
  open: (still) =>
    Effect.map(Backend.memory.open(still), (database) => ({
      ...database,
      stores: (faults) => keeping.pipe(Layer.provideMerge(database.stores(faults)))
    }))
}

/** A database that cannot be opened. */
const closed: Backend.Backend = {
  ...Backend.memory,
  open: () => Effect.suspend(() => Effect.die(new Error("The database is closed")))
}

const keeping = Layer.effect(
  LedgerStore.LedgerStore,
  Effect.map(LedgerStore.LedgerStore, (store) =>
    LedgerStore.LedgerStore.of({
      ...store,
      save: (changes) => store.save({ ...changes, quotas: changes.quotas.filter(({ before, used }) => used > before) })
    }))
)

const raising = Layer.effect(
  AccountStore.AccountStore,
  Effect.map(AccountStore.AccountStore, (store) =>
    AccountStore.AccountStore.of({
      ...store,
      saveUse: (uses) => store.saveUse(uses.filter(({ jobs }) => jobs > 0))
    }))
)

const forgetting = Layer.effect(
  IdempotencyStore.IdempotencyStore,
  Effect.map(IdempotencyStore.IdempotencyStore, (store) =>
    IdempotencyStore.IdempotencyStore.of({
      ...store,
      find: () => Effect.succeed([]),
      claim: () => Effect.succeed([])
    }))
)

describe("random stories in memory", { timeout: 600_000 }, () => {
  it.live("break no promise", () =>
    Effect.gen(function*() {
      const onBroken = (broken: Stories.BrokenSeed) => Effect.die(broken)
      const { hits, jobs } = yield* Stories.checkAll({ first: 1, count, backend: Backend.memory, onBroken })
      // The stories had an effect.
      assert.isAbove(hits, count)
      for (const status of ["completed", "failed"]) assert.isAbove(jobs[status] ?? 0, count / 100)
    }))

  it.live("keep files whole that end early or cannot be deleted", () =>
    Effect.gen(function*() {
      const broken: Story.Step = {
        _tag: "fault",
        host: 0,
        place: "get",
        kind: "truncate",
        position: "start",
        skip: 0,
        count: 1,
        millis: 20
      }
      const early = { ...broken, skip: 1, position: "middle" } as const
      const uncommitted = { ...broken, place: "put", kind: "cut", position: "end" } as const
      const kept: Story.Step = { _tag: "fault", host: 0, place: "delete", kind: "full", skip: 0, count: 2, millis: 20 }
      const create: Story.Step = { _tag: "create", account: 0, keys: [0, 5], host: 0 }
      const pass: Story.Step = { _tag: "pass", millis: 12_000 }
      const download: Story.Step = { _tag: "download", pick: 0, host: 0 }
      for (const faults of [[broken], [early], [uncommitted], [{ ...uncommitted, skip: 1 }, kept]]) {
        const steps = [...faults, create, pass, download, pass]
        assert.isAbove((yield* Stories.run({ skews: [0, 0, 0], steps }, Backend.memory)).hits, 0)
      }
    }))

  it.live("delete the files of a lost attempt later if they cannot be deleted at once", () =>
    Effect.map(Stories.run(lostAttempt, Backend.memory), ({ hits, statuses }) => {
      assert.isAbove(hits, 2)
      assert.deepStrictEqual(statuses, ["completed"])
    }))

  it.live("continue after a store that refused writes for some time", () =>
    Effect.gen(function*() {
      const create: Story.Step = { _tag: "create", account: 0, keys: [1, 2], host: 0 }
      const pass: Story.Step = { _tag: "pass", millis: 3_000 }
      const poll: Story.Step = { _tag: "poll", pick: 0, host: 0 }
      for (const store of ["database", "files"] as const) {
        for (const kind of ["readOnly", "full"] as const) {
          const refuse: Story.Step = { _tag: "refuse", store, kind, millis: 20_000 }
          const later: Story.Step = { ...create, keys: [4, 5] }
          const steps = [create, refuse, later, poll, pass, later, pass, pass, pass, poll, pass, pass, pass]
          const told = yield* Stories.run({ skews: [0, 0, 0], steps }, Backend.memory)
          const { failedReads, hits, refusals, statuses } = told
          assert.isAbove(hits, 0)
          // The edge responds to these with 503 `unavailable`.
          assert.deepStrictEqual([...new Set(refusals)], ["StorageError unavailable"])
          assert.strictEqual(failedReads, 0)
          assert.deepStrictEqual(statuses.toSorted(), ["completed", "completed", "completed", "completed"])
        }
      }
    }))

  it.live("find a product that does not refund the budgets of API keys", () =>
    Effect.gen(function*() {
      // The upstream fails the job of this key.
      const story: Story.Story = {
        skews: [0, 0, 0],
        steps: [{ _tag: "create", account: 0, keys: [3], host: 0 }, { _tag: "pass", millis: 3_000 }]
      }
      assert.deepStrictEqual((yield* Stories.run(story, Backend.memory)).statuses, ["failed"])
      const { message } = yield* Effect.flip(Stories.run(story, withoutRefunds))
      assert.include(message, "an API key has spent 8 credits and 1 jobs on 2030-01-30")
    }))

  it.live("find a product that does not return quotas", () =>
    Effect.gen(function*() {
      // The upstream fails the job of this key.
      const story: Story.Story = {
        skews: [0, 0, 0],
        steps: [{ _tag: "create", account: 0, keys: [7], host: 0 }, { _tag: "pass", millis: 3_000 }]
      }
      assert.deepStrictEqual((yield* Stories.run(story, Backend.memory)).statuses, ["failed"])
      const { message } = yield* Effect.flip(Stories.run(story, withoutReturns))
      assert.include(message, `"subject":"quota:image:2030-01-30","booked":0,"kept":1`)
    }))

  it.live("print where a defect comes from", () =>
    Effect.gen(function*() {
      const failures: Array<string> = []
      const onBroken = (broken: Stories.BrokenSeed) => Effect.sync(() => void failures.push(broken.message))
      yield* Stories.checkAll({ first: 1, count: 1, backend: closed, onBroken })
      assert.match(failures.join(), /The database is closed\n +at .*memory\.test\.ts/)
    }))

  it.live("find a product that forgets the keys of requests, and print a short story", () =>
    Effect.gen(function*() {
      const failures: Array<Stories.BrokenSeed> = []
      const onBroken = (broken: Stories.BrokenSeed) => Effect.sync(() => void failures.push(broken))
      const numbers: Array<number> = []
      const onShrink = ({ number }: Stories.Shrink) => Effect.sync(() => void numbers.push(number))
      // The first story in which a client sends a request.
      for (let seed = 1; failures.length === 0 && seed < 100; seed++) {
        yield* Stories.checkAll({ first: seed, count: 1, backend: forgetful, onShrink, onBroken })
      }
      const [broken] = failures
      assert.deepStrictEqual(numbers.slice(0, 2), [1, 2])
      assert.isAtMost(broken?.story.steps.length ?? 100, 3)
      assert.match(broken?.message ?? "", /^The seed \d+ breaks a promise:\n[^]*\n1\. create /)
      assert.isAtMost(numbers.length, Backend.memory.shrinksMax)

      const { seed = 0 } = broken ?? {}
      numbers.length = 0
      yield* Stories.checkAll({ first: seed, count: 1, backend: forgetful, shrinksMax: 3, onShrink, onBroken })
      assert.deepStrictEqual(numbers, [1, 2, 3])
      assert.strictEqual(failures.at(-1)?.seed, seed)
    }))
})
