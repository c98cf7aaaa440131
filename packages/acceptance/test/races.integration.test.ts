/**
 * Many concurrent clients on two hosts that share a Postgres. Races that the rate limits of one account permit run over HTTP
 * between two server processes. The others (1,000 requests at once, 100 running jobs of one account) run between two
 * instances of the services in this process, which share only the database.
 */
import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Context, Effect, Layer, Option } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Peer from "../src/Peer.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

const models = [Drill.model({ id: "drill-cheap" }), Drill.model({ id: "drill-dear", credits: 5 })]

/** The default plans, but an account can run many jobs at once. */
const roomy: PlanTable.PlanTable = {
  ...PlanTable.defaults,
  credits: {
    ...PlanTable.defaults.credits,
    business: { ...PlanTable.defaults.credits.business, concurrency: 1_000 }
  }
}

/** Two servers and two peers on one Postgres. None of them runs jobs. */
class Hosts extends Context.Service<Hosts, Effect.Success<typeof startHosts>>()("acceptance/test/Hosts") {
  static readonly layer = Layer.effect(Hosts, Effect.suspend(() => startHosts))
}

layer(Hosts.layer, { excludeTestServices: true, timeout: "5 minutes" })("two servers on one Postgres", (it) => {
  it.effect("create one job for 1,000 identical requests: one 201 and 999 times 200", () =>
    Effect.gen(function*() {
      const { clientOf, openAccount, verify } = yield* Hosts
      const account = yield* openAccount({ credits: 1_000, keys: 10 })
      const same: Client.Order = { model: "drill-cheap", idempotencyKey: "same" }
      const send = (n: number) => clientOf(n, account.keys[n % account.keys.length] ?? "").create(same)
      // The first requests race, as many as the creation limit of 120 per minute cannot reject.
      const race = yield* Effect.forEach(numbers(100), send, { concurrency: "unbounded" })
      const later = yield* Effect.forEach(numbers(900), send, { concurrency: "unbounded" })
      const answers = [...race, ...later]
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 201: 1, 200: 999 })
      assert.strictEqual(new Set(answers.map((answer) => Client.jobOf(answer).id)).size, 1)
      for (const { headers, status } of answers) {
        assert.strictEqual(headers.get("idempotent-replayed"), String(status === 200))
      }
      yield* verify(account, { consumed: 1, charges: 1, refunds: 0 })
    }))

  it.effect("create as many jobs as the credits pay for and reject the others with 402", () =>
    Effect.gen(function*() {
      const { clientOf, openAccount, verify } = yield* Hosts
      const account = yield* openAccount({ credits: 100 })
      const answers = yield* Effect.forEach(
        numbers(100),
        (n) => clientOf(n, account.key).create({ model: "drill-dear", prompt: `lake ${n}` }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 201: 20, 402: 80 })
      const refused = answers.filter(({ status }) => status === 402).map(Client.errorCodeOf)
      assert.deepStrictEqual(countBy(refused), { insufficient_credits: 80 })
      yield* verify(account, { consumed: 100, charges: 20, refunds: 0 })
    }))

  it.effect("create as many jobs as the budget of the key allows, also while others are cancelled", () =>
    Effect.gen(function*() {
      const { clientOf, openAccount, verify } = yield* Hosts
      const budget = { creditsPerMonth: Option.some(60) }
      const account = yield* openAccount({ credits: 1_000, budget })
      const create = (n: number) => clientOf(n, account.key).create({ model: "drill-dear", prompt: `lake ${n}` })
      const answers = yield* Effect.forEach(numbers(40), create, { concurrency: "unbounded" })
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 201: 12, 429: 28 })
      const refused = answers.filter(({ status }) => status === 429).map(Client.errorCodeOf)
      assert.deepStrictEqual(countBy(refused), { key_budget_exceeded: 28 })
      const created = answers.filter(({ status }) => status === 201).map((answer) => Client.jobOf(answer).id)
      const cancel = (n: number) => clientOf(n + 1, account.key).cancel(created[n] ?? "")
      const [cancelled, more] = yield* Effect.all([
        Effect.forEach(numbers(5), cancel, { concurrency: "unbounded" }),
        Effect.forEach(numbers(20), (n) => create(40 + n), { concurrency: "unbounded" })
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(countBy(cancelled.map(({ status }) => status)), { 200: 5 })
      const last = yield* Effect.forEach(numbers(5), (n) => create(60 + n), { concurrency: "unbounded" })
      const charges = 12 + [...more, ...last].filter(({ status }) => status === 201).length
      assert.strictEqual(charges, 17)
      yield* verify(account, { consumed: 60, charges, refunds: 5 })
    }))

  it.effect("refund a job once when 16 requests cancel it, and return it to all of them", () =>
    Effect.gen(function*() {
      const { clientOf, openAccount, verify } = yield* Hosts
      const account = yield* openAccount({ credits: 5 })
      const { id } = Client.jobOf(yield* clientOf(0, account.key).create({ model: "drill-dear" }))
      const answers = yield* Effect.forEach(numbers(16), (n) => clientOf(n, account.key).cancel(id), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(countBy(answers.map(({ status }) => status)), { 200: 16 })
      for (const answer of answers) {
        const { refunded, status } = Client.jobOf(answer)
        assert.deepStrictEqual([status, refunded], ["cancelled", true])
      }
      yield* verify(account, { consumed: 0, charges: 1, refunds: 1 })
    }))

  it.effect("create one job for 1,000 identical requests that arrive at once", () =>
    Effect.gen(function*() {
      const { onPeer, openAccount, verify } = yield* Hosts
      const account = yield* openAccount({ credits: 1_000 })
      const same: Client.Order = { model: "drill-cheap", idempotencyKey: "same" }
      const made = yield* Effect.forEach(numbers(1_000), (n) => onPeer(n, Peer.create(account.id, same)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(countBy(made.map(({ replayed }) => String(replayed))), { false: 1, true: 999 })
      assert.strictEqual(new Set(made.map(({ generation }) => generation.id)).size, 1)
      yield* verify(account, { consumed: 1, charges: 1, refunds: 0 })
    }))

  it.effect("create 100 of 300 jobs if the credits pay for 100", () =>
    Effect.gen(function*() {
      const { onPeer, openAccount, verify } = yield* Hosts
      const account = yield* openAccount({ credits: 100 })
      const create = (n: number) => Peer.create(account.id, { model: "drill-cheap", prompt: `lake ${n}` })
      const made = yield* Effect.forEach(numbers(300), (n) =>
        Effect.match(onPeer(n, create(n)), {
          onFailure: Peer.reasonOf,
          onSuccess: ({ generation }) => generation.status
        }), { concurrency: "unbounded" })
      assert.deepStrictEqual(countBy(made), { queued: 100, InsufficientCredits: 200 })
      yield* verify(account, { consumed: 100, charges: 100, refunds: 0 })
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

/** Asserts that the ledger is consistent and has these movements of the account. */
const assertBooks = Effect.fnUntraced(function*(account: Books.TestAccount, expected: Expected) {
  const { problems } = yield* Books.verify
  assert.deepStrictEqual(problems, [])
  assert.deepStrictEqual(yield* Books.movementsOf(account.id), expected)
})

const startHosts = Effect.gen(function*() {
  const site = yield* makeSite("Postgres", models)
  // The requests of an account arrive at the same time.
  const environment = { ...site.environment, KINORA_WORKERS: "0", KINORA_MAX_REQUESTS: "1000" }
  const servers = yield* Effect.all([Program.startServer(environment), Program.startServer(environment)], {
    concurrency: 2
  })
  const peers = [
    yield* Layer.build(Peer.layer(site, { planTable: roomy })),
    yield* Layer.build(Peer.layer(site, { planTable: roomy }))
  ] as const
  return {
    openAccount: (options: Books.AccountOptions) =>
      Effect.provide(Books.openAccount({ ...options, tier: "business" }), peers[0]),
    /** A client of the first server for even `n`, of the second for odd `n`. */
    clientOf: (n: number, key: string) => Client.make(servers[n % 2 === 0 ? 0 : 1].baseUrl, key),
    /** Runs an effect on the first peer for even `n`, on the second for odd `n`. */
    onPeer: <A, E>(n: number, effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof Peer.create>>>) =>
      Effect.provide(effect, peers[n % 2 === 0 ? 0 : 1]),
    verify: (account: Books.TestAccount, expected: Expected) => Effect.provide(assertBooks(account, expected), peers[0])
  }
})
