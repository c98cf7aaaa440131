/**
 * Random concurrent steps of clients, workers, sweeps and crashes. Checks the invariants
 * of every account, job and file after each round, and that every job ends.
 */
import { assert, layer } from "@effect/vitest"
import { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import type { ClaimedJob, JobStatus } from "@kinora/scheduler/Job"
import { WorkerFailure } from "@kinora/scheduler/JobHandler"
import { BlobStore } from "@kinora/storage"
import * as TestTime from "@kinora/testkit/TestTime"
import {
  Cause,
  DateTime,
  Duration,
  Effect,
  Exit,
  Fiber,
  type Layer,
  Option,
  Scheduler as FiberScheduler,
  Schema
} from "effect"
import { type Generation, GenerationId, isFinal, type Status } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { Uploads } from "../src/Uploads.ts"
import type { UsageRow } from "../src/Usage.ts"
import { type layerMemory, listen, openAccount, request } from "./Assembly.ts"
import { bytesOf, png } from "./Pictures.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** Maximum number of waiting jobs. Low, so that queues get full. */
export const waitingMax = 1
const credits = 40
const caps = { credits: 4, studio: 2 }
const ttl = "30 seconds"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
/** Index of an existing item, modulo their number. */
const Pick = upTo(50)

/** Concurrent requests of one client, some of them repeated. */
const Create = Schema.TaggedStruct("create", {
  account: upTo(1),
  plan: Schema.Literals(["credits", "studio"]),
  /** Input of jobs for credits: text, an inline image or an upload. */
  from: Schema.Literals(["text", "text", "image", "upload"]),
  keys: Schema.Array(upTo(9)).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
  /** Number of yields until the client disconnects, and number of operations between yields. */
  leavesAfter: Schema.UndefinedOr(upTo(40)),
  ops: Schema.Int.check(Schema.isBetween({ minimum: 3, maximum: 9 }))
})

const Step = Schema.Union([
  Create,
  Create,
  Schema.TaggedStruct("cancel", { pick: Pick }),
  Schema.TaggedStruct("claim", { limit: upTo(3) }),
  Schema.TaggedStruct("claim", { limit: upTo(3) }),
  /** Ends a job under any earlier lease, often an expired one. `crashes` stops the process before the commit. */
  Schema.TaggedStruct("finish", { pick: Pick, succeeds: Schema.Boolean, crashes: Schema.Boolean }),
  Schema.TaggedStruct("finish", { pick: Pick, succeeds: Schema.Boolean, crashes: Schema.Boolean }),
  Schema.TaggedStruct("release", { pick: Pick }),
  /** Interventions of operators. */
  Schema.TaggedStruct("fail", { pick: Pick }),
  Schema.TaggedStruct("requeue", { pick: Pick }),
  Schema.TaggedStruct("loseWorkers", {}),
  Schema.TaggedStruct("dropStale", {}),
  Schema.TaggedStruct("removeUpload", { account: upTo(1) }),
  Schema.TaggedStruct("dropImages", {})
])

/** Concurrent steps, on the day of the previous round or on the next day. */
const Round = Schema.Struct({
  nextDay: Schema.Literals([false, false, false, true]),
  steps: Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(6))
})

const Story = Schema.Array(Round).check(Schema.isMinLength(4), Schema.isMaxLength(15))

/** Statuses that a generation can have after each earlier status. */
const ways: Record<Status, ReadonlyArray<Status>> = {
  pending: ["pending", "queued", "processing", "completed", "failed", "cancelled"],
  queued: ["queued", "processing", "completed", "failed", "cancelled"],
  processing: ["processing", "completed", "failed"],
  completed: ["completed"],
  failed: ["failed"],
  cancelled: ["cancelled"]
}

/** Checks the scheduler's job against the status of its generation. */
const jobOf = (status: Status, job: JobStatus | undefined): boolean => {
  if (job === undefined) return isFinal(status)
  return status === "processing" ? job.epoch > 0 && job.state !== "pending" : job.epoch === 0 && job.state === status
}

export const suite = <E>(name: string, services: Layer.Layer<Services, E>, runs: number) => {
  layer(services)(`Stories of generations (${name})`, (it) => {
    it.effect.prop(
      "charge, queue and end every job exactly once under concurrent steps",
      [Story],
      ([story]) =>
        Effect.gen(function*() {
          const world = yield* makeWorld
          for (const round of story) {
            if (round.nextDay) yield* world.passDay
            yield* Effect.forEach(round.steps, world.take, { concurrency: "unbounded", discard: true })
            yield* eventually(world.check)
          }
          yield* world.end
        }),
      { arbitrary: { runs }, timeout: 120_000 }
    )
  })
}

/** Retries a check, because requests of disconnected clients may still be in progress. */
const eventually = <A, E, R>(check: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    for (let attempt = 0; attempt < 50; attempt++) {
      if (Exit.isSuccess(yield* Effect.exit(check))) return
      yield* Effect.yieldNow
    }
    yield* check
  })

const makeWorld = Effect.gen(function*() {
  const { cancel, create, fail, requeue, usage } = yield* Generations
  const { dropImages, dropStale } = yield* GenerationSweep
  const { create: upload, remove } = yield* Uploads
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const blobs = yield* BlobStore.BlobStore
  const control = yield* ScriptedGenerator.Control
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  const store = yield* GenerationStore
  const handler = yield* GenerationWorker.makeHandler({})
  const run = handler.prepare((_, settle) => (settlement) => settle === undefined ? Effect.void : settle([settlement]))

  const accounts = yield* Effect.forEach([0, 1], () => openAccount({ credits }))
  const events = yield* Effect.forEach(accounts, ({ id }) => listen(id))
  const uploads = yield* Effect.forEach(accounts, ({ id }) => upload(id, bytesOf(png), undefined))
  const leases: Array<ClaimedJob> = []
  const seen = new Map<string, Status>()
  const made = new Map<string, GenerationId>()
  /** Returns what a new worker asks for. Its lease is renewed by nobody. */
  const termsOf = Effect.fnUntraced(function*(kinds: ReadonlyArray<string>, limit: number) {
    const lease = yield* scheduler.takeLease({ id: `worker-${workers++}`, worker: "test", kinds, slots: 1, ttl })
    return { lease, worker: "test", kinds, limit }
  })
  let workers = 0

  /** Returns the generations of an account's charges. Each charge belongs to one generation. */
  const generationsOf = Effect.fnUntraced(function*(account: string) {
    const entries = yield* ledger.entries({ account, limit: 1_000 })
    const ids = entries.filter(({ kind }) => kind === "charge").flatMap((charge) =>
      GenerationId.parse(charge.reference) ?? []
    )
    const found = yield* store.find(ids)
    assert.strictEqual(found.length, ids.length)
    return found
  })

  const claim = Effect.fnUntraced(function*(limit: number) {
    const terms = yield* termsOf(handler.claims, limit)
    const claim = (alone: boolean) =>
      atomically(Effect.tap(scheduler.claim({ ...terms, alone }), (jobs) => handler.claimed!(jobs, "test")))
    const jobs = [...yield* claim(false), ...yield* claim(true)]
    leases.push(...jobs)
    return jobs.length
  })

  const finish = Effect.fnUntraced(function*(job: ClaimedJob, succeeds: boolean, crashes: boolean) {
    const id = GenerationId.fromUuid(job.job)
    const failure = new GeneratorError.Permanent({ code: "generation_failed", reason: null, message: "No." })
    yield* succeeds ? control.succeed(id) : control.fail(id, failure)
    const settle = yield* run(job, undefined)
    const crash = crashes ? Effect.die("crash") : Effect.void
    yield* Effect.exit(atomically(Effect.andThen(settle, crash)))
  })

  const rescue = Effect.gen(function*() {
    const { exhausted } = yield* scheduler.rescue(yield* termsOf([handler.kind], 100))
    for (const job of exhausted) {
      yield* atomically(
        Effect.flatten(run(job, new WorkerFailure.cases.AttemptsExhausted({ job: job.job, attempts: job.attempt })))
      )
    }
  })

  const ask = Effect.fnUntraced(function*({ account, from, leavesAfter, ops, plan }: typeof Create.Type, key: number) {
    const of = accounts[account]!
    const start = plan === "studio" ? "text" : from
    const name = `${account} ${plan} ${start} ${key}`
    const model = plan === "studio" ? "kinora-draft" : start === "text" ? "kinora-still" : "redraw-1"
    const images = start === "text" ? [] : [start === "image" ? { data: png } : { upload_id: uploads[account]!.id }]
    const params = { prompt: "a lake", ...images.length > 0 ? { images } : {} }
    const command = yield* request(of, { key: name, plan, model, params })
    const fiber = yield* create(command).pipe(
      Effect.provideService(FiberScheduler.MaxOpsBeforeYield, ops),
      Effect.forkChild({ startImmediately: true })
    )
    if (leavesAfter !== undefined) {
      yield* Effect.replicateEffect(Effect.yieldNow, leavesAfter)
      yield* Fiber.interrupt(fiber)
    }
    const exit = yield* Fiber.await(fiber)
    if (Exit.isFailure(exit)) return assertRefused(exit.cause)
    const { id } = exit.value.generation
    assert.strictEqual(made.get(name) ?? id, id)
    made.set(name, id)
  })

  /** Expires the idempotency keys and the waiting time of queued jobs. */
  const passDay = Effect.andThen(
    TestTime.advance(Duration.millis(24 * 3_600_000 + 1)),
    Effect.sync(() => made.clear())
  )

  const take = Effect.fnUntraced(function*(step: typeof Step.Type) {
    const held = "pick" in step ? leases[step.pick % Math.max(1, leases.length)] : undefined
    switch (step._tag) {
      case "create":
        return yield* Effect.forEach(step.keys, (key) => ask(step, key), { concurrency: "unbounded", discard: true })
      case "cancel": {
        const [id, account] = picked(step.pick)
        if (id === undefined) return
        const exit = yield* Effect.exit(cancel(account, id))
        return Exit.isSuccess(exit) ? assert.strictEqual(exit.value.status, "cancelled") : assertRefused(exit.cause)
      }
      case "fail": {
        const [id, account] = picked(step.pick)
        if (id === undefined) return
        const exit = yield* Effect.exit(fail(account, id))
        return Exit.isSuccess(exit) ? assert.isTrue(exit.value.refunded) : assertRefused(exit.cause)
      }
      case "requeue": {
        const [id, account] = picked(step.pick)
        if (id === undefined) return
        const exit = yield* Effect.exit(requeue(account, id))
        return Exit.isSuccess(exit) ? assert.isFalse(isFinal(exit.value.status)) : assertRefused(exit.cause)
      }
      case "claim":
        return yield* claim(step.limit)
      case "finish":
        if (held === undefined) return
        // A worker runs a job once per lease.
        leases.splice(leases.indexOf(held), 1)
        return yield* finish(held, step.succeeds, step.crashes)
      case "release":
        return held === undefined ? undefined : yield* scheduler.release([held])
      case "loseWorkers":
        yield* TestTime.advance(ttl)
        return yield* rescue
      case "dropStale":
        return yield* dropStale(1_000)
      case "removeUpload":
        // Fails if the upload was removed before or has expired.
        return yield* Effect.exit(remove(accounts[step.account]!.id, uploads[step.account]!.id))
      case "dropImages":
        return yield* dropImages(1_000)
    }
  })

  const picked = (pick: number): readonly [GenerationId | undefined, string] => {
    const ids = Array.from(made)
    const [name, id] = ids[pick % Math.max(1, ids.length)] ?? ["0", undefined]
    return [id, accounts[Number(name.charAt(0))]!.id]
  }

  const checkAccount = Effect.fnUntraced(function*(account: string) {
    const generations = yield* generationsOf(account)
    const jobs = yield* scheduler.find(generations.map(({ id }) => GenerationId.toUuid(id)))
    const byId = new Map(jobs.map((job) => [GenerationId.fromUuid(job.job), job]))
    for (const { createdAt, id, images, output, refunded, status } of generations) {
      assert.include(ways[seen.get(id) ?? "pending"], status)
      assert.isTrue(jobOf(status, byId.get(id)), `${status} beside ${JSON.stringify(byId.get(id))}`)
      assert.strictEqual(refunded, status === "failed" || status === "cancelled")
      assert.strictEqual(output !== null, status === "completed")
      if (output !== null) yield* blobs.head(output.content.key)
      // No sweep deletes the images of a job that may still wait or run.
      const mayRun = DateTime.isLessThan(yield* DateTime.now, DateTime.add(createdAt, { hours: 25 }))
      if (!isFinal(status) && mayRun) yield* Effect.forEach(images, ({ key }) => blobs.head(key))
      seen.set(id, status)
    }
    const kept = generations.filter(({ refunded }) => !refunded)
    const spent = kept.reduce((sum, { costCredits }) => sum + (costCredits ?? 0), 0)
    const { credits: left } = yield* ledger.balances(account, yield* DateTime.now)
    assert.strictEqual(left, credits - spent)
    checkPlaces(generations)
    const counted = yield* usage(account, { from: "1970-01-01", to: "1999-12-31" })
    assert.deepStrictEqual(counted, usageOf(generations))
  })

  const check = Effect.gen(function*() {
    assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
    assert.deepStrictEqual(yield* scheduler.verify, [])
    for (const { id } of accounts) yield* checkAccount(id)
  })

  const finishAll = Effect.gen(function*() {
    while ((yield* claim(100)) > 0) {
      yield* Effect.forEach(leases.splice(0), (job) => finish(job, true, false), { discard: true })
    }
    yield* check
    for (const { id } of accounts) {
      for (const { status } of yield* generationsOf(id)) assert.isTrue(isFinal(status), status)
    }
  })

  /** Asserts one started event per started job, and one final event per ended job that was not cancelled. */
  const checkEvents = Effect.gen(function*() {
    for (const [index, { id }] of accounts.entries()) {
      const generations = new Map((yield* generationsOf(id)).map((generation) => [generation.id, generation]))
      const published = yield* events[index]!
      assert.sameMembers(
        published.map(({ generation, type }) => `${type} ${generation.id}`),
        Array.from(generations.values()).flatMap(eventsOf)
      )
      for (const { generation, type } of published) {
        if (type !== "generation.started") assert.deepStrictEqual(generation, generations.get(generation.id))
      }
    }
  })

  /** Restarts the workers and runs all remaining jobs. */
  const end = Effect.gen(function*() {
    yield* TestTime.advance(ttl)
    yield* rescue
    // The pause before jobs that run alone.
    yield* TestTime.advance("10 seconds")
    yield* eventually(finishAll)
    yield* checkEvents
  })

  return { take, passDay, check, end }
})

/** Asserts that slots stay within the caps and that no job waits while a slot is free. */
const checkPlaces = (generations: ReadonlyArray<Generation>) => {
  const count = (plan: string, ...states: ReadonlyArray<Status>) =>
    generations.filter((generation) => generation.plan === plan && states.includes(generation.status)).length
  for (const plan of ["credits", "studio"] as const) {
    const held = count(plan, "queued", "processing")
    assert.isAtMost(held, caps[plan])
    if (count(plan, "pending") > 0) assert.strictEqual(held, caps[plan])
  }
  assert.isAtMost(count("credits", "pending") + count("studio", "pending"), waitingMax)
}

/** Returns the expected events of an ended job. */
const eventsOf = ({ id, startedAt, status }: Generation): ReadonlyArray<string> => [
  ...startedAt === null ? [] : [`generation.started ${id}`],
  ...status === "cancelled" ? [] : [`generation.${status} ${id}`]
]

/** Returns the expected usage: every final generation counts once, on the day of its end. */
const usageOf = (generations: ReadonlyArray<Generation>): ReadonlyArray<UsageRow> => {
  const rows = new Map<string, UsageRow>()
  for (const { costCredits, finishedAt, kind, model, plan, status } of generations) {
    if (status !== "completed" && status !== "failed" && status !== "cancelled") continue
    const day = DateTime.formatIso(finishedAt!).slice(0, 10)
    const key = `${day} ${plan} ${model}`
    const row = rows.get(key) ?? { day, plan, model, kind, completed: 0, failed: 0, cancelled: 0, credits: 0 }
    const credits = row.credits + (status === "completed" ? costCredits ?? 0 : 0)
    rows.set(key, { ...row, [status]: row[status] + 1, credits })
  }
  return Array.from(rows).toSorted(([a], [b]) => a < b ? -1 : 1).map(([, row]) => row)
}

/** Asserts a refusal or the interruption of a disconnected client, not a defect. */
const assertRefused = (cause: Cause.Cause<unknown>) => {
  const refused = Option.getOrUndefined(Cause.findErrorOption(cause))
  assert.isTrue(
    Cause.hasInterruptsOnly(cause) || (Schema.is(Schema.Struct({ _tag: Schema.Literal("GenerationError") }))(refused)),
    Cause.pretty(cause)
  )
}
