import { assert, it } from "@effect/vitest"
import { GenerationEvent, GenerationStore } from "@kinora/generations"
import { type Generation, GenerationId } from "@kinora/generations/Generation"
import { UrlSigner } from "@kinora/storage"
import { EventId, testType } from "@kinora/webhooks/Event"
import { DateTime, Effect, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as WebhookData from "../src/WebhookData.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const bytes = new TextEncoder().encode("0123456789")
const store = GenerationStore.GenerationStore

/** The `data` of a webhook whose first attempt is now, for an earlier event of this generation. */
const bodyOf = Effect.fnUntraced(function*(type: string, data: Schema.Json) {
  const complete = WebhookData.complete({ baseUrl: "https://api.example.com", signer: yield* UrlSigner.UrlSigner })
  return yield* complete({ id: yield* EventId.make, account: "", type, data, createdAt: yield* DateTime.now })
})

const linkFields = ["preview_url", "thumb_url", "poster_url"] as const

const Job = Schema.Struct({
  output: Schema.NullOr(Schema.StructWithRest(Schema.Struct({ url: Schema.String, expires_at: Schema.String }), [
    Schema.Record(Schema.String, Schema.Json)
  ])),
  preview_url: Schema.NullOr(Schema.String),
  thumb_url: Schema.NullOr(Schema.String),
  poster_url: Schema.NullOr(Schema.String)
})
const jobOf = Schema.decodeUnknownSync(Schema.StructWithRest(Job, [Schema.Record(Schema.String, Schema.Json)]))
const generationOf = (body: Schema.Json) => {
  const { generation, ...others } = Schema.decodeUnknownSync(
    Schema.StructWithRest(Schema.Struct({ generation: Schema.Json }), [Schema.Record(Schema.String, Schema.Json)])
  )(body)
  assert.deepStrictEqual(others, {})
  return jobOf(generation)
}

const pathOf = (url: string | null) => url === null ? null : new URL(url).origin + new URL(url).pathname
const expOf = (url: string) => Number(new URL(url).searchParams.get("exp"))

/** A job without its expiring parts. */
const withoutLifetimes = ({ output, ...job }: ReturnType<typeof jobOf>) => ({
  ...job,
  output: output === null ? null : { ...output, url: pathOf(output.url), expires_at: "" },
  ...Object.fromEntries(linkFields.map((field) => [field, pathOf(job[field])]))
})

/** Jobs in every state that has an event, with every file that a job can have. */
const openJobs = Effect.fnUntraced(function*() {
  const send = yield* Host.start()
  const { account, key } = yield* Host.openAccount()
  const completed = yield* Host.addCompleted(account, bytes)
  const file = completed.output!.content
  const add = Effect.fnUntraced(function*(change: Partial<Generation>) {
    const generation = { ...completed, ...change, id: yield* GenerationId.make }
    yield* store.use((store) => store.insert([generation]))
    return generation
  })
  const nothing = { output: null, resultExpiresAt: null, finishedAt: null }
  const failure = { code: "content_rejected", message: "The model refused the prompt.", reason: "safety" } as const
  const image = { index: 0, mime: "image/png", width: 3, height: 2, key: "images/1", bytes: 4 } as const
  const all = { content: file, preview: file, thumb: file, poster: file }
  const failed = { ...nothing, status: "failed", failure, refunded: true, finishedAt: Host.startedAt } as const
  /** The jobs with the number of their links. */
  const jobs = [
    ["generation.completed", completed, 2],
    ["generation.completed", yield* add({ output: all, kind: "video", mode: "image_to_video", images: [image] }), 4],
    ["generation.started", yield* add({ ...nothing, status: "processing" }), 0],
    ["generation.failed", yield* add(failed), 0]
  ] as const
  return { send, key, completed, jobs }
})

it.effect("contains the job as GET returns it, except for the expiry of the links", () =>
  Effect.gen(function*() {
    const { jobs, key, send } = yield* openJobs()
    yield* TestClock.adjust("10 minutes")
    const inAnHour = DateTime.add(yield* DateTime.now, { hours: 1 })
    for (const [type, generation, linkCount] of jobs) {
      const got = jobOf((yield* send("GET", `/v1/generations/${generation.id}`, { key })).json)
      const told = generationOf(yield* bodyOf(type, GenerationEvent.toData(generation)))
      assert.deepStrictEqual(withoutLifetimes(told), withoutLifetimes(got), type)
      assert.deepStrictEqual(Object.keys(told).toSorted(), Object.keys(got).toSorted(), type)
      const links = [told.output?.url ?? null, ...linkFields.map((field) => told[field])].filter((url) => url !== null)
      assert.strictEqual(links.length, linkCount, type)
      for (const link of links) assert.strictEqual(expOf(link) * 1000, inAnHour.epochMilliseconds)
      if (told.output !== null) assert.strictEqual(told.output.expires_at, DateTime.formatIso(inAnHour))
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("contains a link that downloads the result for an hour, and returns 403 signature_expired afterwards", () =>
  Effect.gen(function*() {
    const { completed, send } = yield* openJobs()
    const { output, thumb_url: thumb } = generationOf(
      yield* bodyOf("generation.completed", GenerationEvent.toData(completed))
    )
    const get = (url: string) => send("GET", url.slice("https://api.example.com".length))
    const isGood = Effect.gen(function*() {
      assert.strictEqual((yield* get(output!.url)).text, "0123456789")
      assert.strictEqual((yield* get(thumb!)).text, "012")
    })
    yield* isGood
    yield* TestClock.adjust("3599 seconds")
    yield* isGood
    yield* TestClock.adjust("1 second")
    for (const url of [output!.url, thumb!]) {
      const answer = yield* get(url)
      errorOf(answer, "signature_expired")
      assert.strictEqual(limitOf(answer).remaining, 60)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("contains no link that outlives the result, and none after expiry", () =>
  Effect.gen(function*() {
    const { completed } = yield* openJobs()
    const told = Effect.map(bodyOf("generation.completed", GenerationEvent.toData(completed)), generationOf)
    const end = completed.resultExpiresAt!
    yield* TestClock.setTime(DateTime.subtract(end, { minutes: 59 }).epochMilliseconds)
    const { output } = yield* told
    assert.strictEqual(output!.expires_at, DateTime.formatIso(end))
    assert.strictEqual(expOf(output!.url) * 1000, end.epochMilliseconds)
    yield* TestClock.setTime(end.epochMilliseconds)
    const { output: none, thumb_url: thumb } = yield* told
    assert.deepStrictEqual([none, thumb], [null, null])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the published data of other events, and dies if a generation event has other data", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* bodyOf(testType, {}), {})
    assert.deepStrictEqual(yield* bodyOf("account.suspended", { a: [1] }), { a: [1] })
    assert.isTrue(Exit.hasDies(yield* Effect.exit(bodyOf("generation.failed", { id: "gen_1" }))))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
