import { assert, layer } from "@effect/vitest"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Generation, GenerationId } from "../src/Generation.ts"
import * as Generations from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { type layerMemory, openAccount, request } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const models = ["model-a", "model-b"] as const
const kinds = ["image", "video"] as const
/** Texts in which letters differ by case, or mean something in a pattern. */
const words = ["Fox", "fOX", "%", "_", "\\", "Öl", "öL", "ÖL", "öl", "ß", "İ", "лес", "Лес", "日本", "a".repeat(3)]

const Word = Schema.Literals(words)
const Jobs = Schema.Array(Schema.Struct({
  model: Schema.Literals(models),
  kind: Schema.Literals(kinds),
  words: Schema.Array(Word).check(Schema.isMaxLength(3)),
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
})).check(Schema.isMinLength(5), Schema.isMaxLength(12))
const Second = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })))
const Queries = Schema.Array(Schema.Struct({
  model: Schema.NullOr(Schema.Literals(models)),
  kind: Schema.NullOr(Schema.Literals(kinds)),
  text: Schema.NullOr(Word),
  from: Second,
  to: Second,
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
})).check(Schema.isMinLength(5), Schema.isMaxLength(10))

/** Whether a prompt contains a text, as documented: A to Z in either case, other letters in four spellings. */
const contains = (prompt: string, text: string) => {
  const ascii = (from: string) => Array.from(from, (char) => char < "\x80" ? char.toLowerCase() : char).join("")
  const lower = text.toLowerCase()
  const [first = ""] = lower
  return [text, lower, text.toUpperCase(), first.toUpperCase() + lower.slice(first.length)]
    .some((form) => ascii(prompt).includes(ascii(form)))
}

/** Filters of lists on every backend, compared with a filter of all jobs. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Filters of lists (${name})`, (it) => {
    it.effect.prop("select the jobs of the account that match, in pages, however few a page reads", [
      Jobs,
      Queries
    ], ([jobs, queries]) =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        const { create } = yield* Generations.Generations
        const account = yield* openAccount({ credits: 100 })
        const [sample] = [(yield* create(yield* request(account))).generation]
        const startedAt = yield* TestClock.adjust("1 second").pipe(Effect.andThen(DateTime.now))
        const made: Array<Generation> = []
        for (const { kind, model, seconds, words } of jobs) {
          yield* TestClock.adjust(`${seconds} seconds`)
          const id = yield* GenerationId.make
          made.unshift({ ...sample, id, kind, model, prompt: words.join(" "), createdAt: yield* DateTime.now })
        }
        const other = { ...sample, id: yield* GenerationId.make, account: "of another account" }
        yield* store.insert([...made, other])

        for (const filteredMax of [1, 3, 1_000]) {
          const { list } = yield* Generations.make({ filteredMax })
          for (const { from, kind, limit, model, text, to } of queries) {
            const createdAfter = DateTime.add(startedAt, { seconds: from ?? 0 })
            const createdBefore = to === null ? undefined : DateTime.add(startedAt, { seconds: to })
            const expected = made.filter((job) =>
              (model === null || job.model === model) &&
              (kind === null || job.kind === kind) &&
              (text === null || contains(job.prompt, text)) &&
              DateTime.isGreaterThanOrEqualTo(job.createdAt, createdAfter) &&
              (createdBefore === undefined || DateTime.isLessThan(job.createdAt, createdBefore))
            )
            const criteria = { model: model ?? undefined, kind: kind ?? undefined, text: text ?? undefined }
            const found: Array<GenerationId> = []
            let before: GenerationId | undefined
            do {
              const page = yield* list(account.id, { ...criteria, createdAfter, createdBefore, before, limit })
              assert.isAtMost(page.generations.length, limit)
              found.push(...page.generations.map(({ id }) => id))
              before = page.next ?? undefined
            } while (before !== undefined)
            assert.deepStrictEqual(found, expected.map(({ id }) => id))
          }
        }
      }), { arbitrary: { runs: 20, maxShrinks: 20 }, timeout: 120_000 })

    it.effect("read a limited number of the account's jobs for a page", () =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        const { create, list } = yield* Generations.Generations
        const account = yield* openAccount({ credits: 100 })
        const { generation: first } = yield* create(yield* request(account))
        const makeOther = Effect.map(GenerationId.make, (id) => ({ ...first, id, prompt: "another" }))
        const others = yield* Effect.all(Array.from({ length: 1_000 }, () => makeOther))
        yield* store.insert(others)
        const criteria = { text: first.prompt, limit: 10 }
        const empty = yield* list(account.id, criteria)
        assert.deepStrictEqual(empty, { generations: [], next: others[0]!.id })
        const next = yield* list(account.id, { ...criteria, before: others[0]!.id })
        assert.deepStrictEqual(next, { generations: [first], next: null })
      }))
  })
}
