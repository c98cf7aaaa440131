/** Watermarks of jobs that trial credits pay for. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Media } from "@kinora/media"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { BlobStore } from "@kinora/storage"
import { DateTime, Effect, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as CreditLots from "../src/CreditLots.ts"
import type { StoredFile } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"
import { bytesOf, png } from "./Pictures.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

type Output = NonNullable<ScriptedGenerator.Script["output"]>

/** Opens an account with trial credits and with others. */
export const openTrial = Effect.fnUntraced(function*(credits: { readonly trial: number; readonly plan: number }) {
  const { grant } = yield* Ledger.Ledger
  const account = yield* openAccount({ credits: credits.plan })
  const at = yield* DateTime.now
  yield* grant({
    account: account.id,
    reference: "trial",
    kind: "trial",
    labels: [CreditLots.watermarkLabel],
    credits: credits.trial,
    expiresAt: DateTime.add(at, { days: 7 }),
    at
  })
  return account
})

/** Returns the credits of the account by the kind of their lot. */
export const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  const { lots } = yield* balances(account, yield* DateTime.now)
  return Object.fromEntries(lots.map(({ kind, remaining }) => [kind, remaining]))
})

/** Runs a job that trial credits may pay for, whose generator returns this output, and returns it when it has ended. */
export const run = Effect.fnUntraced(
  function*(account: Effect.Success<ReturnType<typeof openTrial>>, model: string, output: Output, trialAllowed = true) {
    const { create, wait } = yield* Generations
    const control = yield* ScriptedGenerator.Control
    const { generation } = yield* create(yield* request(account, { key: model, model, trialAllowed }))
    yield* control.script(generation.id, { output })
    yield* startWorker()
    return { created: generation, ended: yield* wait(account.id, generation.id, "60 seconds") }
  },
  Effect.scoped
)

/** Reads a stored file. */
export const read = Effect.fnUntraced(function*(file: StoredFile | null | undefined) {
  const blobs = yield* BlobStore.BlobStore
  return yield* Stream.mkUint8Array(blobs.get(file!.key))
})

const image = bytesOf(png)

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Watermarks (${name})`, (it) => {
    const output = { mime: "image/png", body: Stream.succeed(image) }

    it.effect("are on the result and on its small images if trial credits paid, and only then", () =>
      Effect.gen(function*() {
        const account = yield* openTrial({ trial: 8, plan: 8 })
        const { created, ended } = yield* run(account, "kinora-still", output)
        assert.deepStrictEqual([created.watermark, ended.watermark, ended.status], [true, true, "completed"])
        assert.deepStrictEqual(yield* creditsOf(account.id), { plan: 8 })
        const { preview, thumb, watermark } = yield* Media.Media
        const marked = yield* watermark(image)
        assert.deepStrictEqual(yield* read(ended.output?.content), marked.bytes)
        assert.deepInclude(ended.output?.content, { mime: "image/png", bytes: marked.bytes.length })
        const smaller = yield* preview(marked.bytes)
        assert.deepStrictEqual(yield* read(ended.output?.preview), smaller.bytes)
        assert.deepStrictEqual(yield* read(ended.output?.thumb), (yield* thumb(smaller.bytes)).bytes)

        const { ended: paid } = yield* run(account, "redraw-1", output)
        assert.deepStrictEqual([paid.watermark, paid.status], [false, "completed"])
        assert.deepStrictEqual(yield* read(paid.output?.content), image)
        assert.deepStrictEqual(yield* read(paid.output?.preview), (yield* preview(image)).bytes)
      }).pipe(TestClock.withLive))

    it.effect("are on no job that trial credits may not pay for", () =>
      Effect.gen(function*() {
        const account = yield* openTrial({ trial: 100, plan: 0 })
        const refused = yield* Effect.flip(run(account, "kinora-still", output, false))
        assert.strictEqual(
          refused._tag === "GenerationError" ? refused.reason._tag : refused._tag,
          "InsufficientCredits"
        )
        assert.deepStrictEqual(yield* creditsOf(account.id), { trial: 100 })
      }).pipe(TestClock.withLive))
  })
}
