import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Fiber, type Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Changes } from "../src/Changes.ts"
import { type Generation, GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const createNew = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], key: string, options = {}) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account, { key, ...options }))).generation
})

const idsOf = (generations: ReadonlyArray<Generation>) => generations.map(({ id }) => id)

/** Behaviour of lists, changes and usage on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Lists of generations (${name})`, (it) => {
    it.effect("return every job of the account once, newest first, in pages", () =>
      Effect.gen(function*() {
        const { list } = yield* Generations
        const [account, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const made = yield* Effect.forEach(["1", "2", "3", "4", "5"], (key) => createNew(account, key))
        yield* createNew(other, "of another account")
        const pages: Array<ReadonlyArray<GenerationId>> = []
        let before: GenerationId | undefined
        do {
          const page = yield* list(account.id, { limit: 2, before })
          pages.push(idsOf(page.generations))
          before = page.next ?? undefined
          // Jobs created during the listing are newer than the remaining ones.
          yield* createNew(account, `later ${pages.length}`, { plan: "studio", model: "kinora-draft" })
        } while (before !== undefined)
        const newestFirst = idsOf(made).toReversed()
        assert.deepStrictEqual(pages, [newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4)])
        const whole = yield* list(account.id, { limit: 100, before: newestFirst[0] })
        assert.deepStrictEqual(whole, { generations: made.slice(0, 4).toReversed(), next: null })
      }))

    it.effect("return the jobs that match one or several filters", () =>
      Effect.gen(function*() {
        const { cancel, list } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const image = yield* createNew(account, "image")
        const video = yield* createNew(account, "video", { model: "video-1" })
        const studio = yield* createNew(account, "studio", { plan: "studio", model: "kinora-draft" })
        const cancelled = yield* cancel(account.id, (yield* createNew(account, "cancelled")).id)
        const listed = (selection: Omit<Parameters<typeof list>[1], "limit">) =>
          Effect.map(list(account.id, { ...selection, limit: 10 }), ({ generations }) => idsOf(generations))
        assert.deepStrictEqual(yield* listed({ kind: "video" }), [video.id])
        assert.deepStrictEqual(yield* listed({ plan: "studio" }), [studio.id])
        assert.deepStrictEqual(yield* listed({ status: "cancelled" }), [cancelled.id])
        assert.deepStrictEqual(yield* listed({ status: "queued", kind: "image" }), [studio.id, image.id])
        assert.deepStrictEqual(yield* listed({ status: "cancelled", plan: "studio" }), [])
        assert.deepStrictEqual(yield* listed({ status: "queued", plan: "credits", before: video.id }), [image.id])
      }))
  })

  layer(services)(`Searches of generations (${name})`, (it) => {
    it.effect("return the jobs of all accounts that match, newest first, in pages", () =>
      Effect.gen(function*() {
        const { cancel, search } = yield* Generations
        const [one, two] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const startedAt = yield* DateTime.now
        const old = yield* createNew(one, "old")
        yield* TestClock.adjust("1 minute")
        const createdAt = yield* DateTime.now
        const video = yield* createNew(two, "video", { model: "video-1" })
        const studio = yield* createNew(one, "studio", { plan: "studio", model: "kinora-draft" })
        const cancelled = yield* cancel(two.id, (yield* createNew(two, "cancelled")).id)
        yield* TestClock.adjust("1 minute")
        const later = yield* DateTime.now
        const last = yield* createNew(one, "last", { model: "video-1" })

        /** Follows the pages, and returns their sizes and the ids. */
        const found = Effect.fnUntraced(function*(criteria: Omit<Parameters<typeof search>[0], "limit">, limit = 10) {
          const ids: Array<string> = []
          let before = criteria.before
          do {
            const page = yield* search({ ...criteria, createdAfter: criteria.createdAfter ?? startedAt, before, limit })
            ids.push(...idsOf(page.generations))
            before = page.next ?? undefined
          } while (before !== undefined)
          return ids
        })
        const all = idsOf([last, cancelled, studio, video, old])
        for (const limit of [1, 2, 5, 10]) {
          assert.deepStrictEqual(yield* found({}, limit), all)
          assert.deepStrictEqual(yield* found({ status: "queued" }, limit), idsOf([last, studio, video, old]))
          assert.deepStrictEqual(yield* found({ model: "video-1" }, limit), idsOf([last, video]))
          assert.deepStrictEqual(yield* found({ account: one.id }, limit), idsOf([last, studio, old]))
          assert.deepStrictEqual(yield* found({ account: one.id, model: "video-1" }, limit), [last.id])
        }
        assert.deepStrictEqual(yield* found({ status: "cancelled" }), [cancelled.id])
        assert.deepStrictEqual(yield* found({ status: "cancelled", model: "video-1" }), [])
        assert.deepStrictEqual(yield* found({ status: "queued", model: "video-1" }), idsOf([last, video]))
        assert.deepStrictEqual(yield* found({ account: two.id, status: "queued" }), [video.id])
        for (const more of [{}, { status: "queued" as const }, { model: "video-1" }, { account: two.id }]) {
          const between = { createdAfter: createdAt, createdBefore: later, ...more }
          const own = (yield* found(more)).filter((id) => id !== old.id && id !== last.id)
          assert.deepStrictEqual(yield* found(between, 1), own)
          assert.deepStrictEqual(yield* found({ ...between, createdAfter: later }), [])
        }
        assert.deepStrictEqual(yield* found({ createdBefore: later, before: studio.id }), idsOf([video, old]))
      }))

    it.effect("read a limited number of an account's jobs to find those of a model", () =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        const { search } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const first = yield* createNew(account, "first", { model: "video-1" })
        const makeOther = Effect.map(GenerationId.make, (id) => ({ ...first, id, model: "other-1" }))
        yield* store.insert(yield* Effect.all(Array.from({ length: 1_000 }, () => makeOther)))
        const criteria = { account: account.id, model: "video-1", limit: 10 }
        const empty = yield* search(criteria)
        assert.deepStrictEqual(idsOf(empty.generations), [])
        const next = yield* search({ ...criteria, before: empty.next! })
        assert.deepStrictEqual([idsOf(next.generations), next.next], [[first.id], null])
      }))
  })

  layer(services)(`Changes of a generation (${name})`, (it) => {
    it.effect("are emitted from the current status to the final one, and then end", () =>
      Effect.gen(function*() {
        const { changes, get } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "observed")
        const seen: Array<string> = []
        const observer = yield* changes(account.id, id).pipe(
          Stream.runForEach(({ status }) => Effect.sync(() => seen.push(status))),
          Effect.forkChild({ startImmediately: true })
        )
        while (seen.length < 1) yield* get(account.id, id)
        yield* startWorker()
        yield* control.called("submit", id)
        while (seen.length < 2) yield* get(account.id, id)
        yield* control.succeed(id)
        yield* Fiber.join(observer)
        assert.deepStrictEqual(seen, ["queued", "processing", "completed"])
        const late = yield* Stream.runCollect(changes(account.id, id))
        assert.deepStrictEqual(late, [yield* get(account.id, id)])
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("are emitted only to the account of the generation", () =>
      Effect.gen(function*() {
        const { changes } = yield* Generations
        const [owner, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const { id } = yield* createNew(owner, "mine")
        for (const stream of [changes(other.id, id), changes(owner.id, "gen_unknown")]) {
          const error = yield* Effect.flip(Stream.runDrain(stream))
          assert.strictEqual(error._tag === "GenerationError" && error.reason._tag, "NotFound")
        }
      }))

    it.effect("end when the process stops", () =>
      Effect.gen(function*() {
        const { changes } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "stopped")
        const observer = yield* Effect.forkChild(Stream.runCollect(changes(account.id, id)), { startImmediately: true })
        yield* Changes.use(({ end }) => end)
        assert.deepStrictEqual((yield* Fiber.join(observer)).map(({ status }) => status), ["queued"])
      }))
  })

  layer(services)(`Usage (${name})`, (it) => {
    it.effect("counts jobs on the UTC day on which they ended, and credits of completed ones", () =>
      Effect.gen(function*() {
        const { cancel, usage, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const yesterday = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
        const first = yield* createNew(account, "first")
        const second = yield* createNew(account, "second")
        const studio = yield* createNew(account, "studio", { plan: "studio", model: "kinora-draft" })
        yield* cancel(account.id, second.id)
        yield* TestClock.adjust("24 hours")
        const today = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
        yield* cancel(account.id, studio.id)
        yield* control.succeed(first.id)
        yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, first.id, "60 seconds")))
        yield* createNew(account, "not ended")

        const credits = { plan: "credits", model: "kinora-still", kind: "image" } as const
        const none = { completed: 0, failed: 0, cancelled: 0, credits: 0 }
        const rows = [
          { day: yesterday, ...credits, ...none, cancelled: 1 },
          { day: today, ...credits, ...none, completed: 1, credits: 8 },
          { day: today, plan: "studio", model: "kinora-draft", kind: "image", ...none, cancelled: 1 }
        ] as const
        assert.deepStrictEqual(yield* usage(account.id, { from: yesterday, to: today }), rows)
        assert.deepStrictEqual(yield* usage(account.id, { from: yesterday, to: yesterday }), rows.slice(0, 1))
      }))

    it.effect("is counted by the API key that created the job, and the rest without a key", () =>
      Effect.gen(function*() {
        const { cancel, list, usage, usageByKey } = yield* Generations
        const { deleteUsage } = yield* GenerationSweep
        const [account, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const end = Effect.fnUntraced(function*(owner: typeof account, key: string, apiKey?: string, options = {}) {
          const { id } = yield* createNew(owner, key, { apiKey, ...options })
          yield* cancel(owner.id, id)
          return id
        })
        const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
        const span = { from: day, to: day }
        yield* end(account, "without")
        const first = yield* end(account, "a 1", "key_a")
        const second = yield* end(account, "a 2", "key_a")
        yield* end(account, "b", "key_b")
        yield* end(account, "studio", "key_a", { plan: "studio", model: "kinora-draft" })
        yield* end(other, "of another account", "key_a")

        const credits = { day, plan: "credits", model: "kinora-still", kind: "image" } as const
        const studio = { day, plan: "studio", model: "kinora-draft", kind: "image" } as const
        const count = (cancelled: number) => ({ completed: 0, failed: 0, cancelled, credits: 0 })
        const rows = [
          { ...credits, ...count(1), key: null },
          { ...credits, ...count(2), key: "key_a" },
          { ...credits, ...count(1), key: "key_b" },
          { ...studio, ...count(1), key: "key_a" }
        ]
        assert.deepStrictEqual(yield* usageByKey(account.id, span, 100), rows)
        assert.deepStrictEqual(yield* usageByKey(account.id, span, 2), rows.slice(0, 2))
        assert.deepStrictEqual(yield* usage(account.id, span), [
          { ...credits, ...count(4) },
          { ...studio, ...count(1) }
        ])
        const listed = yield* list(account.id, { key: "key_a", plan: "credits", limit: 10 })
        assert.deepStrictEqual(idsOf(listed.generations), [second, first])
        assert.deepStrictEqual(listed.generations.map(({ key }) => key), ["key_a", "key_a"])

        yield* TestClock.adjust("100 days")
        yield* deleteUsage("90 days", 100)
        assert.deepStrictEqual(yield* usageByKey(account.id, span, 100), [])
      }))

    it.effect("counts a job once if it is ended several times", () =>
      Effect.gen(function*() {
        const { cancel, usage } = yield* Generations
        const { dropStale } = yield* GenerationSweep
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "once")
        yield* TestClock.adjust("25 hours")
        yield* Effect.all([Effect.exit(cancel(account.id, id)), dropStale(100), Effect.exit(cancel(account.id, id))], {
          concurrency: "unbounded"
        })
        const day = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
        const [row, ...others] = yield* usage(account.id, { from: day, to: day })
        assert.deepStrictEqual([row!.failed + row!.cancelled, others], [1, []])
      }))
  })

  layer(services)(`The replay window of a request without a key (${name})`, (it) => {
    it.effect("is extended only for the job that the request created", () =>
      Effect.gen(function*() {
        const { create, extend, replay } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const other = yield* openAccount({ credits: 100 })
        const command = yield* request(account)
        const { generation } = yield* create(command)
        const isKnown = Effect.map(replay(account.id, command.identity), Option.isSome)
        yield* TestClock.adjust("119 seconds")
        yield* extend(account.id, command.identity, generation.id)
        yield* TestClock.adjust("119 seconds")
        assert.isTrue(yield* isKnown)
        yield* extend(other.id, command.identity, generation.id)
        yield* TestClock.adjust("1 second")
        assert.isFalse(yield* isKnown)
      }))

    it.effect("ends when the job is refunded, unlike that of a request with a key", () =>
      Effect.gen(function*() {
        const { cancel, create, replay } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const command = yield* request(account)
        const keyed = yield* request(account, { key: "order 1" })
        const first = yield* create(command)
        const { generation } = yield* create(keyed)
        yield* cancel(account.id, first.generation.id)
        yield* cancel(account.id, generation.id)
        assert.isTrue(Option.isNone(yield* replay(account.id, command.identity)))
        assert.deepStrictEqual(
          Option.map(yield* replay(account.id, keyed.identity), ({ id }) => id),
          Option.some(generation.id)
        )
        const again = yield* create(command)
        assert.isFalse(again.replayed)
        assert.notStrictEqual(again.generation.id, first.generation.id)
        assert.isTrue((yield* create(command)).replayed)
      }))
  })
}
