/**
 * Random steps of operators, clients, workers, sweeps and crashes over months, one after the other. After each step,
 * the money of every account is that of the model, and the books and the scheduler verify.
 */
import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import { AccountStore } from "@kinora/accounts/AccountStore"
import type { KeyBudget } from "@kinora/accounts/KeyBudget"
import type { CreditsTier, Plan, StudioTier } from "@kinora/accounts/Plan"
import { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { IdempotencyStore } from "@kinora/idempotency/IdempotencyStore"
import { Ledger } from "@kinora/ledger"
import { LedgerStore } from "@kinora/ledger/LedgerStore"
import { type MemoryBackend, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { SchedulerStore } from "@kinora/scheduler/SchedulerStore"
import * as TestTime from "@kinora/testkit/TestTime"
import { Cause, Context, DateTime, Effect, Exit, Layer, Option, References, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CreditLots from "../src/CreditLots.ts"
import type { Generation } from "../src/Generation.ts"
import { GenerationId, isFinal } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { PlanChanges } from "../src/PlanChanges.ts"
import { PlanRenewal } from "../src/PlanRenewal.ts"
import { type layerMemory, request } from "./Assembly.ts"
import { type Group, type Limits, MoneyModel, type Payment, type PlanState, type Tier } from "./MoneyModel.ts"

/** Low quotas, so that they are used up, and periods that are shorter than the longest sleep. */
export const planTable = Schema.decodeSync(PlanTable.PlanTable)({
  period_days: 5,
  studio: { starter: { quota: { images: 1 } }, pro: { quota: { images: 4 } }, scale: { quota: { images: 6 } } }
})

const pick = Schema.Literals([0, 1, 2])
const group = Schema.Literals(["studio", "credits"])
const cents = Schema.Literals([1, 900, 2_900, 16_000, 30_000])
const minutes = Schema.Literals([1, 30, 60, 360, 720, 1_440, 1_440, 10_080])
const tierIndex = Schema.Literals([0, 1, 2])

const studioTiers: ReadonlyArray<StudioTier> = ["starter", "pro", "scale"]
const creditsTiers: ReadonlyArray<CreditsTier> = ["starter", "pro", "business"]

const Act = Schema.Union([
  Schema.TaggedStruct("deposit", { cents }),
  Schema.TaggedStruct("deposit", { cents }),
  Schema.TaggedStruct("debit", { cents }),
  Schema.TaggedStruct("subscribe", { group, tier: tierIndex }),
  Schema.TaggedStruct("subscribe", { group, tier: tierIndex }),
  Schema.TaggedStruct("stopRenewal", { group }),
  Schema.TaggedStruct("endPlan", { group }),
  Schema.TaggedStruct("grant", {
    credits: Schema.Literals([5, 20, 400]),
    days: Schema.Literals([1, 3, 30, 60]),
    imagesOnly: Schema.Boolean
  }),
  Schema.TaggedStruct("create", { kind: Schema.Literals(["draft", "image", "video"]) }),
  Schema.TaggedStruct("create", { kind: Schema.Literals(["draft", "image", "video"]) }),
  Schema.TaggedStruct("create", { kind: Schema.Literals(["draft", "image", "video"]) }),
  Schema.TaggedStruct("cancel", {}),
  Schema.TaggedStruct("finish", { succeeds: Schema.Boolean }),
  Schema.TaggedStruct("finish", { succeeds: Schema.Boolean }),
  Schema.TaggedStruct("sweep", {}),
  Schema.TaggedStruct("sweep", {}),
  Schema.TaggedStruct("pass", { minutes }),
  Schema.TaggedStruct("pass", { minutes })
])

/**
 * A step of an account. The process crashes before the call of a store with this number, unless it is -1, and writes
 * nothing after it. Another one then repeats the step.
 */
const Step = Schema.Struct({
  account: pick,
  act: Act,
  crash: Schema.Literals([...Array<-1>(12).fill(-1), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

/** Options of the suite. */
export interface MoneyOptions {
  /** Number of sequences. */
  readonly runs: number
  /** Number of steps of a sequence. */
  readonly steps: number
}

/** The services, whose stores the process reaches through `Crashes`. */
type Services = Crashes | Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/**
 * The suite for services over `layerCrashing`. Each sequence has services of its own, because every step verifies the
 * books and the scheduler as a whole.
 */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>, { runs, steps }: MoneyOptions) => {
  describe(`Money over time (${name})`, () => {
    it.effect.prop(
      "is that of the model after every step",
      [Schema.Array(Step).check(Schema.isMinLength(steps), Schema.isMaxLength(steps))],
      ([taken]) =>
        Effect.gen(function*() {
          const world = yield* makeWorld
          for (const step of taken) yield* world.take(step)
        }).pipe(Effect.provide(services)),
      { arbitrary: { runs, maxShrinks: 50 }, timeout: 600_000 }
    )
  })
}

/** Control of the crashes of the process. */
class Crashes extends Context.Service<Crashes, {
  /** Runs a step in a process that crashes before the call with this number. If it does, returns `None`. */
  readonly during: <A, E, R>(calls: number, step: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
}>()("test/Crashes") {}

/** Stores over the surrounding ones whose calls die after a crash. */
export const layerCrashing = Layer.unwrap(Effect.sync(() => {
  let left = Infinity
  const call = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => left-- > 0 ? effect : Effect.die("crash"))

  const crashing = <S extends object>(store: S): S =>
    new Proxy(store, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key)
        if (Effect.isEffect(member)) return call(member)
        return typeof member === "function" ? (...args: ReadonlyArray<unknown>) => call(member(...args)) : member
      }
    })

  const during = Effect.fnUntraced(function*<A, E, R>(calls: number, step: Effect.Effect<A, E, R>) {
    left = calls
    // The failures of a process that crashes are logged.
    const exit = yield* step.pipe(Effect.exit, Effect.provideService(References.MinimumLogLevel, "None"))
    const hasCrashed = left < 0
    left = Infinity
    return hasCrashed ? Option.none() : Option.some(yield* exit)
  })

  return Layer.mergeAll(
    Layer.effect(AccountStore, Effect.map(AccountStore, crashing)),
    Layer.effect(GenerationStore, Effect.map(GenerationStore, crashing)),
    Layer.effect(IdempotencyStore, Effect.map(IdempotencyStore, crashing)),
    Layer.effect(LedgerStore, Effect.map(LedgerStore, crashing)),
    Layer.effect(SchedulerStore, Effect.map(SchedulerStore, crashing)),
    Layer.succeed(Crashes, { during })
  )
}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A job that may still be refunded. */
interface OpenJob {
  readonly account: number
  readonly id: GenerationId
  readonly payment: Payment
}

const makeWorld = Effect.gen(function*() {
  const accounts = yield* Accounts
  const changes = yield* PlanChanges
  const crashes = yield* Crashes
  const generations = yield* Generations
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler
  const { renew } = yield* PlanRenewal
  const { dropStale } = yield* GenerationSweep
  const store = yield* GenerationStore
  const work = yield* makeWork
  const now = Effect.map(DateTime.now, ({ epochMilliseconds }) => epochMilliseconds)
  const open: Array<OpenJob> = []
  let count = 0

  const people = yield* Effect.forEach(budgets, makePerson)

  /** Returns the effect of a step, which returns its outcome, and the outcome in the model. */
  const prepare = Effect.fnUntraced(function*({ account, act }: typeof Step.Type) {
    const { id, model } = people[account]!
    const at = yield* now
    const reference = `step ${count++}`
    switch (act._tag) {
      case "deposit":
        return same(accounts.deposit(id, { reference, cents: act.cents }), "Booked", () => model.deposit(act.cents))
      case "debit":
        return same(accounts.debit(id, { reference, cents: act.cents }), "Booked", () => model.debit(act.cents))
      case "subscribe": {
        const { group } = act
        const tier = group === "studio" ? studioTiers[act.tier]! : creditsTiers[act.tier]!
        const subscribe = group === "studio"
          ? Effect.map(changes.subscribe(id, group, studioTiers[act.tier]!), ({ _tag }) => _tag)
          : Effect.map(changes.subscribe(id, group, creditsTiers[act.tier]!), ({ _tag }) => _tag)
        return same(subscribe, undefined, () => model.subscribe(group, tier, at))
      }
      case "stopRenewal":
        return same(accounts.stopRenewal(id, act.group), "Stopped", () => model.stopRenewal(act.group, at))
      case "endPlan":
        return same(changes.set(id, act.group, Option.none()), "Ended", () => model.endPlan(act.group))
      case "grant": {
        const { credits, days, imagesOnly } = act
        const expiresAt = at + days * 86_400_000
        const purpose = imagesOnly ? CreditLots.imagePurpose : undefined
        const lot = { credits, purpose, kind: "addon", expiresAt: DateTime.makeUnsafe(expiresAt) } as const
        const grant = ledger.grant({ ...lot, account: id, reference, at: DateTime.makeUnsafe(at) })
        return same(grant, "Granted", () => model.grant({ kind: "addon", expiresAt, imagesOnly }, credits))
      }
      case "create":
        return create(account, act.kind, reference, at)
      case "cancel": {
        const job = open.find((job) => job.account === account)
        return same(job === undefined ? Effect.void : Effect.ignore(generations.cancel(id, job.id)), "", () => "")
      }
      case "finish":
        return same(work(act.succeeds), "", () => "")
      case "sweep":
        const sweep = Effect.all([renew(500), dropStale(500), accounts.spending.deleteOld(500)])
        return same(Effect.asVoid(sweep), "", () => {
          for (const { model } of people) model.renew(at)
          return ""
        })
      case "pass":
        return same(TestTime.advance(`${act.minutes} minutes`), "", () => "")
    }
  })

  const create = (account: number, kind: "draft" | "image" | "video", key: string, at: number) => {
    const { budgetLine, id, model } = people[account]!
    const parts = { draft: { model: "kinora-draft", plan: "studio" }, image: {}, video: { model: "video-1" } } as const
    let made: Generation | undefined
    const run = Effect.gen(function*() {
      const command = yield* request(yield* accounts.get(id), { key, budgetLine, ...parts[kind] })
      made = (yield* generations.create(command)).generation
      return "Created"
    })
    return same(run, undefined, () => {
      const payment = model.charge(kind, price, at)
      if (typeof payment === "string") return payment
      if (made !== undefined) open.push({ account, id: made.id, payment })
      return "Created"
    })
  }

  /** Applies the refunds of the jobs that have ended to the model. */
  const settle = Effect.gen(function*() {
    const found = yield* store.find(open.map(({ id }) => id))
    const byId = new Map(found.map((generation) => [generation.id, generation]))
    const at = yield* now
    for (const job of open.splice(0)) {
      const generation = byId.get(job.id)
      assert.isDefined(generation)
      if (!isFinal(generation.status)) {
        open.push(job)
        continue
      }
      assert.strictEqual(generation.refunded, generation.status !== "completed")
      if (generation.refunded) people[job.account]!.model.refund(job.payment, at)
    }
  })

  /** Compares these accounts with the model. */
  const check = Effect.fnUntraced(function*(compared: typeof people) {
    const at = yield* DateTime.now
    for (const { budgetLine, id, model } of compared) {
      const { balanceCents, plans } = yield* accounts.get(id)
      const used = (yield* accounts.spending.usedBy(yield* accounts.listKeys(id))).get(budgetLine)
      assert.deepStrictEqual(
        used,
        Object.keys(model.limits).length === 0 ? undefined : model.usedOf(at.epochMilliseconds)
      )
      const { lots, quotaUsed } = yield* ledger.balances(id, at)
      const state = {
        cents: balanceCents,
        plans: plansOf(plans),
        lots: bucketsOf(lots),
        images: quotaUsed.get("image") ?? 0
      }
      assert.deepStrictEqual(state, {
        cents: model.cents,
        plans: { ...model.plans },
        lots: [...model.live(at.epochMilliseconds)],
        images: model.imagesOf(at.epochMilliseconds)
      })
      assert.deepStrictEqual((yield* ledger.verify({ account: id })).discrepancies, [])
    }
    assert.deepStrictEqual(yield* scheduler.verify, [])
  })

  const take = Effect.fnUntraced(function*(step: typeof Step.Type) {
    const { model, outcome } = yield* prepare(step)
    const calls = step.act._tag === "pass" || step.crash === -1 ? Infinity : step.crash
    const first = yield* crashes.during(calls, outcome)
    const seen = Option.isSome(first) ? first.value : yield* outcome
    // The refunds of a sweep follow its renewals.
    assert.strictEqual(seen, model(), step.act._tag)
    yield* settle
    yield* check(concernsAll.has(step.act._tag) ? people : [people[step.account]!])
  })

  return { take }
})

/** Steps that change the money of other accounts too. */
const concernsAll = new Set<string>(["finish", "pass", "sweep"])

/** Price of the images and videos. */
const price = 8

/** The budgets of the keys of the accounts. */
const budgets: ReadonlyArray<Limits> = [
  {},
  { creditsPerDay: 2 * price, jobsPerMonth: 12 },
  { creditsPerMonth: 5 * price, jobsPerDay: 3 }
]

const makePerson = Effect.fnUntraced(function*(limits: Limits) {
  const accounts = yield* Accounts
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  const budget: KeyBudget = {
    creditsPerDay: Option.fromUndefinedOr(limits.creditsPerDay),
    creditsPerMonth: Option.fromUndefinedOr(limits.creditsPerMonth),
    jobsPerDay: Option.fromUndefinedOr(limits.jobsPerDay),
    jobsPerMonth: Option.fromUndefinedOr(limits.jobsPerMonth)
  }
  const { record } = yield* accounts.createKey(id, "key", {}, budget)
  return { id, budgetLine: record.line, model: new MoneyModel(planTable, limits) }
})

/** Makes a function that claims a job and ends it. */
const makeWork = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const control = yield* ScriptedGenerator.Control
  const scheduler = yield* Scheduler
  const handler = yield* GenerationWorker.makeHandler({})
  const run = handler.prepare((_, settle) => (settlement) => settle === undefined ? Effect.void : settle([settlement]))
  let workers = 0

  return Effect.fnUntraced(function*(succeeds: boolean) {
    const kinds = handler.claims
    const worker = { id: `worker-${workers++}`, worker: "test", kinds, slots: 1, ttl: "30 seconds" } as const
    const terms = { lease: yield* scheduler.takeLease(worker), worker: "test", kinds, limit: 1, alone: false }
    const [job] = yield* atomically(Effect.tap(scheduler.claim(terms), (jobs) => handler.claimed!(jobs, "test")))
    if (job === undefined) return
    const id = GenerationId.fromUuid(job.job)
    const failure = new GeneratorError.Permanent({ code: "generation_failed", reason: null, message: "No." })
    yield* succeeds ? control.succeed(id) : control.fail(id, failure)
    yield* atomically(yield* run(job, undefined))
  })
})

/** An effect with its outcome, the name of its refusal included, and the outcome in the model. */
const same = <A, E, R>(effect: Effect.Effect<A, E, R>, done: string | undefined, model: () => string) => ({
  outcome: Effect.exit(effect).pipe(
    Effect.flatMap((exit) => {
      if (Exit.isSuccess(exit)) return Effect.succeed(done ?? String(exit.value))
      const refused = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      return Option.match(decodeRefusal(refused), {
        onNone: () => Effect.failCause(Cause.die(Cause.squash(exit.cause))),
        onSome: ({ reason }) => Effect.succeed(reason._tag)
      })
    })
  ),
  model
})

const decodeRefusal = Schema.decodeUnknownOption(Schema.Struct({ reason: Schema.Struct({ _tag: Schema.String }) }))

type Plans = Effect.Success<ReturnType<Accounts["Service"]["get"]>>["plans"]

const plansOf = (plans: Plans) => {
  const of = (group: Group) =>
    Option.getOrUndefined(
      Option.map<Plan<Tier>, PlanState>(plans[group], ({ autoRenew, nextTier, periodEnd, tier }) => ({
        tier,
        end: periodEnd.epochMilliseconds,
        renews: autoRenew,
        next: nextTier
      }))
    )
  return { studio: of("studio"), credits: of("credits") }
}

/** Lots of one kind that expire together, as the model has them. */
const bucketsOf = (lots: Ledger.Balances["lots"]) => {
  const buckets = new Map<
    string,
    { expiresAt: number; imagesOnly: boolean; kind: CreditLots.Kind; remaining: number }
  >()
  for (const lot of lots) {
    const { expiresAt, remaining } = lot
    const [imagesOnly, kind] = [CreditLots.isForImages(lot), CreditLots.kindOf(lot)]
    const key = `${expiresAt.epochMilliseconds} ${kind} ${imagesOnly}`
    const bucket = buckets.get(key) ?? { expiresAt: expiresAt.epochMilliseconds, imagesOnly, kind, remaining: 0 }
    buckets.set(key, { ...bucket, remaining: bucket.remaining + remaining })
  }
  return Array.from(buckets.values())
}
