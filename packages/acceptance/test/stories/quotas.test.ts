/** The check of quotas finds what the product must not do. */
import { assert, it } from "@effect/vitest"
import { GenerationId } from "@kinora/generations/Generation"
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Quotas from "../../src/stories/Quotas.ts"

const day = "2030-01-01"
const nextDay = "2030-01-02"
/** 30 seconds after the start of the next day. */
const now = DateTime.makeUnsafe(`${nextDay}T00:00:30Z`)

type Day = typeof day | typeof nextDay

const chargeOn = (reference: string, day: Day): Quotas.CountedTransaction => ({
  kind: "charge",
  reference,
  entries: [{ from: "allowance", to: `quota:image:${day}`, amount: 1 }]
})

/** Returns the problems of one job whose host is ahead by `skew`, and whose charge counts to `day`. */
const problemsOf = (skew: number, day: Day, used: number) =>
  Effect.map(Effect.provide(GenerationId.make, SecureRandom.layerWebCrypto), (id) =>
    Quotas.problemsOfJobs({
      jobs: [{ id, plan: "studio", refunded: false, createdAt: DateTime.add(now, { milliseconds: skew }) }],
      transactions: [chargeOn(id, day)],
      skewsOf: () => [skew],
      used,
      now
    }))

it.effect("a job counts to the day of the database, whatever the clock of its host", () =>
  Effect.gen(function*() {
    for (const skew of [0, -120_000, 120_000]) {
      assert.deepStrictEqual(yield* problemsOf(skew, nextDay, 1), [])
      const wrong = yield* problemsOf(skew, day, 0)
      assert.strictEqual(wrong.length, 1)
      assert.match(wrong[0]!, /^gen_\w+ counts to quota:image:2030-01-01$/)
    }
  }))

it.effect("the count of today, and each charge, are those of the jobs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* problemsOf(0, nextDay, 0), [
      "0 images are counted to the quota of today; 1 are booked"
    ])
    const none = { jobs: [], skewsOf: () => [0], used: 0, now }
    assert.deepStrictEqual(Quotas.problemsOfJobs({ ...none, transactions: [chargeOn("gen_x", day)] }), [
      "gen_x counts to quota:image:2030-01-01",
      "1 images are counted to quotas; 0 jobs are"
    ])
  }))

it("no day has more jobs than the quota", () => {
  const charges = [chargeOn("a", day), chargeOn("b", day), chargeOn("c", nextDay)]
  assert.deepStrictEqual(Quotas.problemsOfLimit(charges), [
    "2 jobs count to quota:image:2030-01-01; the quota is 1"
  ])
})
