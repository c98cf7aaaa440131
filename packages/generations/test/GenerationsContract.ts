import { assert, layer } from "@effect/vitest"
import { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import * as TestTime from "@kinora/testkit/TestTime"
import { Clock, DateTime, Effect, Exit, Fiber, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Failure, Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** Price of one image of the default model. */
const price = 8

const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account, yield* DateTime.now)).credits
})

/** Creates a generation with its own key, so that it is never a replay. */
const createNew = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], key: string, options = {}) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account, { key, ...options }))).generation
})

/** Returns the refusal of an effect. */
const refusalOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "GenerationError" ? error.reason : assert.fail(error._tag))

/** Returns the value or the refusal of an effect. */
const outcomeOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.result(
    Effect.mapError(effect, (error) => error._tag === "GenerationError" ? error.reason : assert.fail(error._tag))
  )

const assertSound = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
  assert.deepStrictEqual(yield* scheduler.verify, [])
})

/** Behaviour of the use-cases on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Generations (${name})`, (it) => {
    it.effect("charges a new job and queues it while a slot is free", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const generation = yield* createNew(account, "one")
        assert.strictEqual(generation.status, "queued")
        assert.strictEqual(generation.costCredits, price)
        assert.strictEqual(generation.quotaKind, null)
        assert.deepStrictEqual(generation.params, { aspect_ratio: "1:1", resolution: "1k" })
        assert.strictEqual(yield* creditsOf(account.id), 100 - price)
        assert.deepStrictEqual(yield* (yield* Generations).get(account.id, generation.id), generation)
        yield* assertSound
      }))

    it.effect("charges the day's quota for the studio plan, and no credits", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 0 })
        const generation = yield* createNew(account, "one", { plan: "studio", model: "kinora-draft" })
        assert.deepStrictEqual([generation.costCredits, generation.quotaKind], [null, "image"])
        yield* assertSound
      }))

    it.effect("queues up to 20 jobs beyond the plan's slots and refuses further ones without a charge", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 1_000 })
        const made = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, n) => `key ${n}`),
          (key) => outcomeOf(createNew(account, key)),
          { concurrency: "unbounded" }
        )
        const statuses = made.map((result) => Result.isSuccess(result) ? result.success.status : result.failure._tag)
        const count = (status: string) => statuses.filter((found) => found === status).length
        assert.deepStrictEqual([count("queued"), count("pending"), count("QueueFull")], [4, 20, 6])
        assert.strictEqual(yield* creditsOf(account.id), 1_000 - 24 * price)
        yield* assertSound
      }))

    it.effect("creates exactly 100 of 300 concurrent jobs if the credits cover 100", () =>
      Effect.gen(function*() {
        // 15 accounts with 20 requests each; between them, their credits pay for 100 jobs.
        const accounts = yield* Effect.forEach(
          Array.from({ length: 15 }, (_, n) => n),
          (n) => openAccount({ credits: (n < 10 ? 7 : 6) * price })
        )
        const asked = accounts.flatMap((account) =>
          Array.from({ length: 20 }, (_, n) => ({ account, key: `key ${n}` }))
        )
        const made = yield* Effect.forEach(
          asked,
          ({ account, key }) => outcomeOf(createNew(account, key)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(made.filter(Result.isSuccess).length, 100)
        assert.isTrue(
          made.every((result) =>
            Result.isSuccess(result) ||
            (result.failure._tag === "InsufficientCredits" && result.failure.required === price)
          )
        )
        yield* assertSound
      }))

    it.effect("creates one job for a thousand identical requests and replays it to the others", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 1_000 })
        const { create } = yield* Generations
        const same = yield* request(account, { key: "same" })
        const made = yield* Effect.forEach(Array.from({ length: 1_000 }), () => create(same), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(made.map(({ generation }) => generation.id)).size, 1)
        assert.strictEqual(made.filter(({ replayed }) => !replayed).length, 1)
        assert.strictEqual(yield* creditsOf(account.id), 1_000 - price)
      }))

    it.effect("releases the key of a refused request", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 0 })
        const { create } = yield* Generations
        const { grant } = yield* Ledger.Ledger
        const command = yield* request(account, { key: "again" })
        assert.strictEqual((yield* refusalOf(create(command)))._tag, "InsufficientCredits")
        const at = yield* DateTime.now
        yield* grant({
          account: account.id,
          reference: "later",
          kind: "addon",
          credits: price,
          expiresAt: DateTime.add(at, { days: 1 }),
          at
        })
        assert.isFalse((yield* create(command)).replayed)
      }))

    it.effect("refuses a key that was used with another body", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { create, replay } = yield* Generations
        yield* createNew(account, "used")
        const other = yield* request(account, { key: "used", params: { prompt: "a mountain" } })
        for (
          const refused of [yield* Effect.flip(create(other)), yield* Effect.flip(replay(account.id, other.identity))]
        ) {
          assert.strictEqual(refused._tag === "GenerationError" && refused.reason._tag, "KeyReused")
        }
        assert.strictEqual(yield* creditsOf(account.id), 100 - price)
      }))

    it.effect("fails only the request whose earlier job is missing", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { create } = yield* Generations
        const idempotency = yield* Idempotency.Idempotency
        const damaged = yield* request(account, { key: "damaged" })
        const { fingerprint, scope } = damaged.identity
        yield* idempotency.claimAll([{
          scope,
          key: { _tag: "Explicit", text: "damaged" },
          fingerprint,
          reference: "gen_00000000000000000000000000"
        }])
        const sound = yield* Effect.forEach(["a", "b"], (key) => request(account, { key }))
        const exits = yield* Effect.forEach([...sound, damaged], (command) => Effect.exit(create(command)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, false])
        assert.include(String(exits[2]), "of a claim does not exist")
        assert.strictEqual(yield* creditsOf(account.id), 100 - 2 * price)
      }))

    it.effect("returns the job of an earlier request before any check or count", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { create, replay } = yield* Generations
        const command = yield* request(account)
        assert.isTrue(Option.isNone(yield* replay(account.id, command.identity)))
        const { generation } = yield* create(command)
        assert.deepStrictEqual(Option.getOrThrow(yield* replay(account.id, command.identity)).id, generation.id)
        yield* TestClock.adjust("120 seconds")
        assert.isTrue(Option.isNone(yield* replay(account.id, command.identity)))
      }))

    it.effect("refuses what the model, the plan or the parameters do not allow, and charges nothing", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const reasonOf = Effect.fnUntraced(function*(options: Parameters<typeof request>[1], of = account) {
          return yield* refusalOf((yield* Generations).create(yield* request(of, options)))
        })
        assert.strictEqual((yield* reasonOf({ model: "nothing" }))._tag, "ModelNotFound")
        assert.strictEqual((yield* reasonOf({ model: "withdrawn-1" }))._tag, "ModelNotFound")
        assert.strictEqual((yield* reasonOf({ model: "paused-1" }))._tag, "ModelUnavailable")
        assert.strictEqual((yield* reasonOf({ plan: "studio" }))._tag, "ModelNotInPlan")
        const free = { ...account, plans: { studio: Option.none(), credits: Option.none() } }
        assert.strictEqual((yield* reasonOf({ plan: "studio", model: "kinora-draft" }, free))._tag, "PlanInactive")
        const invalid = yield* reasonOf({ params: { prompt: "", aspect_ratio: "7:5", size: 4 } })
        assert.deepStrictEqual(
          invalid._tag === "InvalidParams" && invalid.issues.map(({ path }) => path).toSorted(),
          ["params.aspect_ratio", "params.prompt", "params.size"]
        )
        assert.strictEqual(yield* creditsOf(account.id), 100)
      }))

    it.effect("does not return jobs of other accounts", () =>
      Effect.gen(function*() {
        const [owner, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const { id } = yield* createNew(owner, "mine")
        const { cancel, file, get, wait } = yield* Generations
        const attempts = [
          get(other.id, id),
          wait(other.id, id, 0),
          cancel(other.id, id),
          file(id, "content", other.id),
          get(owner.id, "gen_unknown"),
          get(owner.id, "../etc/passwd")
        ]
        for (const attempt of attempts) {
          assert.strictEqual((yield* refusalOf<unknown, never>(attempt))._tag, "NotFound")
        }
        assert.strictEqual((yield* get(owner.id, id)).status, "queued")
      }))

    it.effect("refunds a cancelled job once and queues the next one", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { cancel, get } = yield* Generations
        const made = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, n) => `key ${n}`),
          (key) => createNew(account, key)
        )
        assert.deepStrictEqual(made.map(({ status }) => status), [
          "queued",
          "queued",
          "queued",
          "queued",
          "pending",
          "pending"
        ])
        const cancelled = yield* Effect.forEach(Array.from({ length: 16 }), () => cancel(account.id, made[1]!.id), {
          concurrency: "unbounded"
        })
        assert.isTrue(cancelled.every(({ refunded, status }) => status === "cancelled" && refunded))
        assert.strictEqual(yield* creditsOf(account.id), 100 - 5 * price)
        assert.strictEqual((yield* get(account.id, made[4]!.id)).status, "queued")
        assert.strictEqual((yield* get(account.id, made[5]!.id)).status, "pending")
        yield* assertSound
      }))

    it.effect("returns the current state when the timeout of `wait` ends", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { wait } = yield* Generations
        const { id } = yield* createNew(account, "slow")
        const waiting = yield* Effect.forkChild(wait(account.id, id, "10 seconds"))
        const start = yield* Clock.currentTimeMillis
        yield* TestTime.until(Effect.sync(() => waiting.pollUnsafe() !== undefined))
        assert.strictEqual((yield* Fiber.join(waiting)).status, "queued")
        assert.isAtLeast((yield* Clock.currentTimeMillis) - start, 10_000)
      }))

    it.effect("fails and refunds a job that has waited for 24 hours", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { get } = yield* Generations
        const { dropStale } = yield* GenerationSweep
        const { id } = yield* createNew(account, "stale")
        yield* TestClock.adjust("24 hours")
        yield* dropStale(1_000)
        assert.strictEqual((yield* get(account.id, id)).status, "queued")
        yield* TestClock.adjust("1 milli")
        assert.isAtLeast(yield* dropStale(1_000), 1)
        const failed = yield* get(account.id, id)
        assert.deepStrictEqual([failed.status, failed.failure?.code, failed.refunded], [
          "failed",
          "queue_timeout",
          true
        ])
        yield* assertSound
      }))
  })

  // Separate services, because the worker claims all jobs.
  layer(services)(`Running generations (${name})`, (it) => {
    it.effect("runs a job, stores its files and wakes waiting calls", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { cancel, file, get, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const blobs = yield* BlobStore.BlobStore
        yield* startWorker()
        const { id } = yield* createNew(account, "run")
        const waiting = yield* Effect.forkChild(wait(account.id, id, "60 seconds"), { startImmediately: true })
        yield* control.called("submit", id)

        const running = yield* get(account.id, id)
        assert.strictEqual(running.status, "processing")
        assert.isNotNull(running.startedAt)
        assert.strictEqual((yield* refusalOf(cancel(account.id, id)))._tag, "NotCancellable")
        assert.strictEqual((yield* refusalOf(file(id, "content")))._tag, "ResultNotReady")

        yield* control.succeed(id)
        const done = yield* Fiber.join(waiting)
        assert.strictEqual(done.status, "completed")
        for (const name of ["content", "preview", "thumb"] as const) {
          const stored = yield* file(id, name, account.id)
          assert.strictEqual((yield* blobs.head(stored.file.key)).bytes, stored.file.bytes)
        }
        assert.strictEqual(yield* creditsOf(account.id), 100 - price)
        yield* assertSound
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("refunds a failed job and returns the failure", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { file, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const { id } = yield* createNew(account, "fail")
        const failure = { code: "content_rejected", reason: "safety", message: "The prompt is not allowed." } as const
        yield* control.fail(id, new GeneratorError.Permanent(failure))
        yield* startWorker()
        const failed = yield* wait(account.id, id, "60 seconds")
        assert.deepStrictEqual([failed.status, failed.refunded, failed.failure], ["failed", true, failure])
        assert.strictEqual((yield* refusalOf(file(id, "content")))._tag, "ResultNotFound")
        assert.strictEqual(yield* creditsOf(account.id), 100)
        yield* assertSound
      }).pipe(Effect.scoped))

    it.effect("reads a generation with a result once per second for its files", () =>
      Effect.gen(function*() {
        const [account, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const { file, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const { clearOutput } = yield* GenerationStore
        const { id } = yield* createNew(account, "files")
        assert.strictEqual((yield* refusalOf(file(id, "content")))._tag, "ResultNotReady")
        yield* control.succeed(id)
        yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, id, "60 seconds")))
        const { file: stored, generation } = yield* file(id, "content")
        yield* clearOutput([generation.id])
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual((yield* file(id, "content", account.id)).file, stored)
        assert.strictEqual((yield* refusalOf(file(id, "content", other.id)))._tag, "NotFound")
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* refusalOf(file(id, "content")))._tag, "ResultExpired")
      }))

    it.effect("deletes the files at the end of the download window and keeps the job", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { file, get, wait } = yield* Generations
        const { expireResults } = yield* GenerationSweep
        const control = yield* ScriptedGenerator.Control
        const blobs = yield* BlobStore.BlobStore
        const { id } = yield* createNew(account, "expire")
        yield* control.succeed(id)
        const done = yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, id, "60 seconds")))
        const { key } = (yield* file(id, "content")).file
        yield* TestClock.adjust("24 hours")
        assert.strictEqual((yield* refusalOf(file(id, "content")))._tag, "ResultExpired")
        yield* blobs.head(key)
        assert.isAtLeast(yield* expireResults(1_000), 1)
        assert.strictEqual((yield* Effect.flip(blobs.head(key))).reason._tag, "NotFound")
        assert.deepStrictEqual(yield* get(account.id, id), { ...done, output: null })
      }))
  })
}
