/** Moderation of requests and results: what rejections, failures, repeats and crashes leave behind. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Moderation, ModerationError } from "@kinora/moderation"
import { type MemoryBackend, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type JobHandler, Scheduler } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import { DateTime, Deferred, Effect, Exit, Fiber, type Layer, type Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { type Failure, Generations, make } from "../src/Generations.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import * as ResultFiles from "../src/internal/run/resultFiles.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"
import { bytesOf, jpeg, mp4, png } from "./Pictures.ts"
import * as Preparations from "./Preparations.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

type Checks = Moderation.Moderation["Service"]

type Account = Parameters<typeof request>[0]

const credits = 100

const { accepted, rejected } = Moderation

/** Checks that accept everything, except for these. */
const checks = (others: Partial<Checks>): Checks => ({
  checkInput: () => Effect.succeed(accepted),
  checkOutput: () => Effect.succeed(accepted),
  ...others
})

/** The use-cases with this check of inputs, over the stores of the suite. */
const moderating = (checkInput: Checks["checkInput"], options: Parameters<typeof make>[0] = {}) =>
  Effect.provideService(make(options), Moderation.Moderation, checks({ checkInput }))

const workerWith = (checkOutput: Checks["checkOutput"], retries?: number) =>
  Effect.provideService(startWorker(1, { retries }), Moderation.Moderation, checks({ checkOutput }))

const refusalOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "GenerationError" ? error.reason : assert.fail(error._tag))

const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account, yield* DateTime.now)).credits
})

const isStored = (key: string) =>
  BlobStore.BlobStore.use((blobs) => Effect.map(Effect.exit(blobs.head(key)), Exit.isSuccess))

const redraw = (account: Account, key: string, images: Schema.Json = [{ data: png }]) =>
  request(account, { key, model: "redraw-1", params: { prompt: "a lake", images } })

/** Creates a job of this model whose generator has succeeded. */
const createFinished = Effect.fnUntraced(
  function*(model = "kinora-still", output: ScriptedGenerator.Script["output"] = {}) {
    const { create } = yield* Generations
    const control = yield* ScriptedGenerator.Control
    const account = yield* openAccount({ credits })
    const { generation } = yield* create(yield* request(account, { key: "one", model }))
    yield* control.script(generation.id, {
      output: { mime: "image/png", body: Stream.succeed(bytesOf(png)), ...output }
    })
    return generation
  }
)

/** Runs the job with this check of its result until it has ended. */
const run = Effect.fnUntraced(
  function*(
    generation: { readonly account: string; readonly id: string },
    checkOutput: Checks["checkOutput"],
    retries?: number
  ) {
    const { wait } = yield* Generations
    yield* workerWith(checkOutput, retries)
    return yield* wait(generation.account, generation.id, "60 seconds")
  },
  Effect.scoped
)

const suiteOfInputs = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Moderation of requests (${name})`, (it) => {
    it.effect("refuses a rejected prompt without a charge, and the key can be used again", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits })
        const { create } = yield* moderating(({ prompt }) =>
          Effect.succeed(prompt === "a lake" ? rejected("safety") : accepted)
        )
        const command = yield* request(account, { key: "one" })
        assert.deepInclude(yield* refusalOf(create(command)), {
          _tag: "ContentRejected",
          plan: "credits",
          reason: "safety",
          image: null
        })
        assert.strictEqual(yield* creditsOf(account.id), credits)
        assert.isFalse((yield* create(yield* request(account, { key: "one", params: { prompt: "a hill" } }))).replayed)
      }))

    it.effect("reads the stored images in order, and deletes those of a rejected request", () =>
      Effect.gen(function*() {
        const { atomically, isOpen } = yield* UnitOfWork
        const account = yield* openAccount({ credits })
        const seen: Array<readonly [mime: string, isWhole: boolean, smaller: string]> = []
        const keys: Array<string> = []
        const blobs = yield* BlobStore.BlobStore
        const noting: typeof blobs = {
          ...blobs,
          put: (key, ...rest) => Effect.suspend(() => (keys.push(key), blobs.put(key, ...rest)))
        }
        const { create } = yield* Effect.provideService(
          moderating(Effect.fnUntraced(function*({ images }) {
            assert.isFalse(yield* isOpen)
            for (const { bytes, mime, read, smaller } of images) {
              seen.push([mime, (yield* read).length === bytes, (yield* smaller).mime])
            }
            return rejected("copyright", 1)
          })),
          BlobStore.BlobStore,
          noting
        )
        const refusal = yield* refusalOf(create(yield* redraw(account, "one", [{ data: jpeg }, { data: png }])))
        assert.deepInclude(refusal, { _tag: "ContentRejected", reason: "copyright", image: 1 })
        assert.deepStrictEqual(seen, [["image/jpeg", true, "image/webp"], ["image/png", true, "image/webp"]])
        assert.strictEqual(keys.length, 2)
        for (const key of keys) assert.isFalse(yield* isStored(key))
        assert.isTrue(yield* atomically(isOpen))
      }))

    it.effect("that fails refuses the request without a charge, and the key can be used again", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits })
        const { create } = yield* moderating(() => Effect.fail(ModerationError.unavailable("Time limit")))
        const command = yield* redraw(account, "one")
        assert.strictEqual((yield* refusalOf(create(command)))._tag, "ModerationUnavailable")
        assert.strictEqual(yield* creditsOf(account.id), credits)
        assert.isFalse((yield* (yield* Generations).create(command)).replayed)
      }))

    it.effect("does not change the answer to a repeated request", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits })
        const command = yield* redraw(account, "one")
        const { generation } = yield* (yield* Generations).create(command)
        for (
          const answer of [Effect.succeed(rejected("safety")), Effect.fail(ModerationError.unavailable("Status 500"))]
        ) {
          const { create } = yield* moderating(() => answer)
          const repeated = yield* create(command)
          assert.deepStrictEqual([repeated.replayed, repeated.generation.id], [true, generation.id])
          const reused = yield* request(account, { key: "one" })
          assert.strictEqual((yield* refusalOf(create(reused)))._tag, "KeyReused")
        }
        assert.strictEqual(yield* creditsOf(account.id), credits - (generation.costCredits ?? 0))
      }))

    it.effect("answers concurrent equal requests with one job, although its verdicts differ", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits })
        const command = yield* redraw(account, "one")
        const isCreated = yield* Deferred.make<void>()
        const isSecond = yield* Deferred.make<void>()
        let checked = 0
        const { create } = yield* moderating(() =>
          Effect.suspend(() => {
            checked += 1
            return checked === 1
              ? Effect.as(Deferred.await(isSecond), accepted)
              : Deferred.succeed(isSecond, undefined).pipe(
                Effect.andThen(Deferred.await(isCreated)),
                Effect.as(rejected("safety"))
              )
          })
        )
        // Either of them may be checked first.
        const ask = Effect.tap(create(command), () => Deferred.succeed(isCreated, undefined))
        const made = yield* Effect.all([ask, ask], { concurrency: "unbounded" })
        assert.strictEqual(checked, 2)
        assert.sameMembers(made.map(({ replayed }) => replayed), [false, true])
        assert.strictEqual(made[0].generation.id, made[1].generation.id)
      }))

    it.effect("serves accounts in turn, so that a busy account does not delay others", () =>
      Effect.gen(function*() {
        const [busy, other] = [yield* openAccount({ credits }), yield* openAccount({ credits })]
        const checked: Array<string> = []
        const isEntered = yield* Deferred.make<void>()
        const mayContinue = yield* Deferred.make<void>()
        const { following, reached } = yield* Preparations.follow(4)
        const { create } = yield* moderating(({ account }) =>
          Effect.suspend(() => {
            checked.push(account)
            return Deferred.succeed(isEntered, undefined)
          }).pipe(Effect.andThen(Deferred.await(mayContinue)), Effect.as(accepted)), { moderationsMax: 1 })
        const send = Effect.fnUntraced(function*(account: Account, key: string) {
          return yield* Effect.forkChild(following(create(yield* request(account, { key }))), {
            startImmediately: true
          })
        })
        const first = yield* send(busy, "1")
        yield* Deferred.await(isEntered)
        const others = [yield* send(busy, "2"), yield* send(busy, "3"), yield* send(other, "1")]
        yield* reached
        yield* Deferred.succeed(mayContinue, undefined)
        yield* Effect.forEach([first, ...others], Fiber.join)
        assert.strictEqual(checked.length, 4)
        assert.isBelow(checked.indexOf(other.id), 3)
      }))

    it.effect("that does not end refuses the request after 30 seconds, also while it waits for its turn", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits })
        const { following, reached } = yield* Preparations.follow(2)
        const { create } = yield* moderating(() => Effect.never, { moderationsMax: 1 })
        const commands = yield* Effect.forEach(["1", "2"], (key) => request(account, { key }))
        const fibers = yield* Effect.forEach(
          commands,
          (command) => Effect.forkChild(refusalOf(following(create(command))), { startImmediately: true })
        )
        yield* reached
        yield* TestClock.adjust("30 seconds")
        const refusals = yield* Effect.forEach(fibers, Fiber.join)
        assert.deepStrictEqual(refusals.map(({ _tag }) => _tag), ["ModerationUnavailable", "ModerationUnavailable"])
      }))
  })
}

const suiteOfResults = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Moderation of results (${name})`, (it) => {
    it.effect("fails the job of a rejected result with a refund, and deletes its files", () =>
      Effect.gen(function*() {
        const generation = yield* createFinished()
        const job = yield* run(generation, () => Effect.succeed(rejected("copyright")))
        assert.deepStrictEqual([job.status, job.refunded, job.output], ["failed", true, null])
        assert.deepInclude(job.failure, { code: "content_rejected", reason: "copyright" })
        assert.include(job.failure?.message, "rejected the result")
        assert.strictEqual(yield* creditsOf(job.account), credits)
        for (const key of ResultFiles.keysUpTo({ job: GenerationId.toUuid(job.id), epoch: 1 })) {
          assert.isFalse(yield* isStored(key))
        }
      }).pipe(TestClock.withLive))

    it.effect("reads an image and its preview, or a video and its poster, outside of units of work", () =>
      Effect.gen(function*() {
        const { isOpen } = yield* UnitOfWork
        const seen: Array<ReadonlyArray<unknown>> = []
        const check: Checks["checkOutput"] = Effect.fnUntraced(function*({ id, picture, prompt, video }) {
          assert.isFalse(yield* isOpen)
          assert.strictEqual(prompt, "a lake")
          for (const file of [picture, video]) {
            if (file !== undefined) assert.strictEqual((yield* file.read).length, file.bytes, id)
          }
          seen.push([picture?.mime, picture === undefined ? undefined : (yield* picture.smaller).mime, video?.mime])
          return accepted
        })
        const jobs = [
          yield* run(yield* createFinished(), check),
          yield* run(
            yield* createFinished("video-1", {
              mime: "video/mp4",
              body: Stream.succeed(bytesOf(mp4)),
              poster: bytesOf(png)
            }),
            check
          )
        ]
        assert.deepStrictEqual(jobs.map(({ status }) => status), ["completed", "completed"])
        assert.deepStrictEqual(seen, [
          ["image/png", "image/webp", undefined],
          ["image/webp", "image/webp", "video/mp4"]
        ])
      }).pipe(TestClock.withLive))

    it.effect("is repeated if it fails for a transient reason", () =>
      Effect.gen(function*() {
        let checked = 0
        const job = yield* run(yield* createFinished(), () =>
          Effect.suspend(() => {
            checked += 1
            return checked === 1 ? Effect.fail(ModerationError.unavailable("Status 503")) : Effect.succeed(accepted)
          }))
        assert.deepStrictEqual([job.status, checked], ["completed", 2])
      }).pipe(TestClock.withLive))

    it.effect("that stays without a verdict fails the job with a refund", () =>
      Effect.gen(function*() {
        for (const error of [ModerationError.unavailable("Status 503"), ModerationError.unsupported("Too long")]) {
          const job = yield* run(yield* createFinished(), () => Effect.fail(error), 0)
          assert.deepStrictEqual([job.status, job.refunded, job.output], ["failed", true, null])
          assert.deepInclude(job.failure, { code: "generation_failed", reason: "internal" })
          assert.notInclude(job.failure?.message, error.message)
          assert.strictEqual(yield* creditsOf(job.account), credits)
        }
      }).pipe(TestClock.withLive))

    for (const [first, second] of [[rejected("safety"), accepted], [accepted, rejected("safety")]] as const) {
      it.effect(`is repeated after a crash, and only the later verdict counts: ${second._tag}`, () =>
        Effect.gen(function*() {
          const { atomically } = yield* UnitOfWork
          const { get } = yield* Generations
          const scheduler = yield* Scheduler.Scheduler
          const handlerWith = (verdict: Moderation.Verdict) =>
            Effect.provideService(
              GenerationWorker.makeHandler({}),
              Moderation.Moderation,
              checks({ checkOutput: () => Effect.succeed(verdict) })
            )
          const handlers = [yield* handlerWith(first), yield* handlerWith(second)] as const
          const termsOf = Effect.fnUntraced(function*(id: string) {
            const worker = { worker: "test", kinds: handlers[0].claims }
            const lease = yield* scheduler.takeLease({ ...worker, id, slots: 1, ttl: "1 second" })
            return { ...worker, limit: 1, lease }
          })
          const settle = Effect.fnUntraced(function*(handler: JobHandler.JobHandler) {
            const jobs = scheduler.claim(yield* termsOf("runner"))
            const [job] = yield* atomically(Effect.tap(jobs, (jobs) => handler.claimed!(jobs, "runner")))
            return yield* handler.prepare((_, settle) => (settlement) => atomically(settle!([settlement])))(
              job!,
              undefined
            )
          })
          const generation = yield* createFinished()
          // The process ends after the check, before the unit of work that ends the job.
          assert.isTrue(Effect.isEffect(yield* settle(handlers[0])))
          assert.strictEqual((yield* get(generation.account, generation.id)).status, "processing")
          yield* TestClock.adjust("1 second")
          yield* scheduler.rescue(yield* termsOf("rescuer"))
          yield* yield* settle(handlers[1])

          const job = yield* get(generation.account, generation.id)
          assert.strictEqual(job.status, second === accepted ? "completed" : "failed")
          assert.strictEqual(yield* creditsOf(job.account), second === accepted ? credits - job.costCredits! : credits)
          const contents = [1, 2].map((epoch) =>
            ResultFiles.keyOf({ job: GenerationId.toUuid(job.id), epoch }, "content")
          )
          assert.deepStrictEqual(yield* Effect.filter(contents, isStored), second === accepted ? [contents[1]!] : [])
        }))
    }
  })
}

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  suiteOfInputs(name, services)
  suiteOfResults(name, services)
}
