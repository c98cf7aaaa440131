/**
 * Many clients at once on two hosts that share a Postgres. What the limits of the
 * interface let one account do is proven over HTTP, with real processes; what goes
 * beyond them (1,000 at once, 100 jobs of one account) on two peers in this
 * process, which share nothing but the database either.
 */
import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Peer from "../src/Peer.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

const models = [Drill.model({ id: "drill-cheap" }), Drill.model({ id: "drill-dear", credits: 5 })]

/** One account with room for many jobs. */
const roomy: PlanTable.PlanTable = {
  ...PlanTable.defaults,
  credits: {
    ...PlanTable.defaults.credits,
    business: { ...PlanTable.defaults.credits.business, concurrency: 1_000 }
  }
}

describe.concurrent("two servers on one Postgres", { timeout: 120_000 }, () => {
  it.live("make one job of 1,000 identical requests: 201 once, and 200 for all others (D14, D15)", () =>
    Effect.gen(function*() {
      const { account, clientOf, verify } = yield* startTwo({ credits: 1_000, keys: 10 })
      const same: Client.Order = { model: "drill-cheap", idempotencyKey: "same" }
      const send = (n: number) => clientOf(n, account.keys[n % account.keys.length]).create(same)
      // All that may still be refused for the creation limit, 120 per minute, meet the first.
      const race = yield* Effect.forEach(numbers(100), send, { concurrency: "unbounded" })
      const later = yield* Effect.forEach(numbers(900), send, { concurrency: "unbounded" })
      const answers = [...race, ...later]
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 201: 1, 200: 999 })
      assert.strictEqual(new Set(answers.map((answer) => Client.jobOf(answer).id)).size, 1)
      for (const { headers, status } of answers) {
        assert.strictEqual(headers.get("idempotent-replayed"), String(status === 200))
      }
      yield* verify({ consumed: 1, charges: 1, refunds: 0 })
    }))

  it.live("create as many jobs as the credits pay for, and refuse the others with 402", () =>
    Effect.gen(function*() {
      const { account, clientOf, verify } = yield* startTwo({ credits: 100 })
      const answers = yield* Effect.forEach(
        numbers(100),
        (n) => clientOf(n, account.key).create({ model: "drill-dear", prompt: `lake ${n}` }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 201: 20, 402: 80 })
      const refused = answers.filter(({ status }) => status === 402).map(Client.errorCodeOf)
      assert.deepStrictEqual(countBy(refused), { insufficient_credits: 80 })
      yield* verify({ consumed: 100, charges: 20, refunds: 0 })
    }))

  it.live("refund once when 16 cancel the same job, and answer all of them with it (D8)", () =>
    Effect.gen(function*() {
      const { account, clientOf, verify } = yield* startTwo({ credits: 5 })
      const created = yield* clientOf(0, account.key).create({ model: "drill-dear" })
      const { id } = Client.jobOf(created)
      const answers = yield* Effect.forEach(numbers(16), (n) => clientOf(n, account.key).cancel(id), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 200: 16 })
      for (const answer of answers) {
        const { refunded, status } = Client.jobOf(answer)
        assert.deepStrictEqual([status, refunded], ["cancelled", true])
      }
      yield* verify({ consumed: 0, charges: 1, refunds: 1 })
    }))
})

describe.concurrent("two peers on one Postgres", { timeout: 120_000 }, () => {
  it.live("make one job of 1,000 identical requests at once (D14)", () =>
    Effect.gen(function*() {
      const { account, onPeer, verify } = yield* startPeers({ credits: 1_000 })
      const same: Client.Order = { model: "drill-cheap", idempotencyKey: "same" }
      const made = yield* Effect.forEach(numbers(1_000), (n) => onPeer(n, Peer.create(account.id, same)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(countBy(made.map(({ replayed }) => String(replayed))), { false: 1, true: 999 })
      assert.strictEqual(new Set(made.map(({ generation }) => generation.id)).size, 1)
      yield* verify({ consumed: 1, charges: 1, refunds: 0 })
    }))

  it.live("create 100 of 300 jobs when the credits pay for 100", () =>
    Effect.gen(function*() {
      const { account, onPeer, verify } = yield* startPeers({ credits: 100 })
      const made = yield* Effect.forEach(numbers(300), (n) =>
        onPeer(n, Peer.create(account.id, { model: "drill-cheap", prompt: `lake ${n}` })).pipe(
          Effect.match({
            onFailure: Peer.reasonOf,
            onSuccess: ({ generation: { status } }) =>
              status
          })
        ), { concurrency: "unbounded" })
      assert.deepStrictEqual(countBy(made), { queued: 100, InsufficientCredits: 200 })
      yield* verify({ consumed: 100, charges: 100, refunds: 0 })
    }))
})

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const countBy = (values: ReadonlyArray<string | number | undefined>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1
  return counts
}

interface Expected {
  readonly consumed: number
  readonly charges: number
  readonly refunds: number
}

const assertBooks = Effect.fnUntraced(function*(account: Books.TestAccount, expected: Expected) {
  const { problems, totals } = yield* Books.verify
  assert.deepStrictEqual(problems, [])
  // The demo account was granted credits too, and has used none.
  assert.deepStrictEqual({ consumed: totals.consumed, ...yield* Books.movementsOf(account.id) }, expected)
})

/** Two servers that do not work, and an account. */
const startTwo = Effect.fnUntraced(function*(options: Books.AccountOptions) {
  const site = yield* makeSite("Postgres", models)
  const environment = { ...site.environment, KINORA_WORKERS: "0" }
  const servers = yield* Effect.all([Program.startServer(environment), Program.startServer(environment)], {
    concurrency: 2
  })
  const account = yield* Books.use(site, Books.openAccount({ ...options, tier: "business" }))
  return {
    account,
    /** The client of every second server in turn. */
    clientOf: (n: number, key = account.key) => Client.make(servers[n % 2 === 0 ? 0 : 1].baseUrl, key),
    verify: (expected: Expected) => Books.use(site, assertBooks(account, expected))
  }
})

/** Two peers that do not work, and an account with room for many jobs. */
const startPeers = Effect.fnUntraced(function*(options: Books.AccountOptions) {
  const site = yield* makeSite("Postgres", models)
  const peers = [
    yield* Layer.build(Peer.layer(site, { planTable: roomy })),
    yield* Layer.build(Peer.layer(site, { planTable: roomy }))
  ] as const
  const account = yield* Effect.provide(Books.openAccount({ ...options, tier: "business" }), peers[0])
  return {
    account,
    /** Runs an effect on every second peer in turn. */
    onPeer: <A, E>(n: number, effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof Peer.create>>>) =>
      Effect.provide(effect, peers[n % 2 === 0 ? 0 : 1]),
    verify: (expected: Expected) => Effect.provide(assertBooks(account, expected), peers[0])
  }
})
