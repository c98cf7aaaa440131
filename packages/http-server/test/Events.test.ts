import { assert, it } from "@effect/vitest"
import { Generation, GenerationStore } from "@kinora/generations"
import { Changes } from "@kinora/generations"
import { Generation as Wire } from "@kinora/http-api"
import { DateTime, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
const strictly = Schema.decodeUnknownSync(Wire.Generation, { onExcessProperty: "error" })

const createOne = Effect.fnUntraced(function*(options: Parameters<typeof Host.start>[0] = {}) {
  const send = yield* Host.start(options)
  const { account, key, keyId } = yield* Host.openAccount()
  const created = strictly((yield* send("POST", "/v1/generations", { key, body })).json)
  const id = Generation.GenerationId.parse(created.id)!
  return { account, follow: send("GET", `/v1/generations/${id}/events`, { key }), id, key, keyId, send }
})

/** The blocks of a stream without the delay: the lines of each event, and each comment. */
const blocksOf = ({ text }: Host.Answer) => {
  assert.isTrue(text.endsWith("\n\n"), text)
  const blocks = text.slice(0, -2).split("\n\n").filter((block) => block !== "retry: 5000")
  return blocks.map((block) => block.split("\n"))
}

/** The sent states, after checking the format of every event. */
const statesOf = (answer: Host.Answer) =>
  blocksOf(answer).map((lines) => {
    const [id, event, data, ...rest] = lines
    assert.deepStrictEqual([event, rest], ["event: generation", []])
    const { status } = strictly(JSON.parse(data!.slice("data: ".length)))
    assert.strictEqual(id, `id: ${status}`)
    return status
  })

it.effect("sends the current state and each later one, and ends after the final one", () =>
  Effect.gen(function*() {
    const { follow, id, keyId } = yield* createOne()
    const following = yield* Effect.forkChild(follow)
    yield* Host.held("wait", keyId, 1)
    const at = yield* DateTime.now
    yield* GenerationStore.GenerationStore.use((store) =>
      store.start([{ id, at, attempt: 1, epoch: 1, worker: "test" }])
    )
    yield* Changes.Changes.use((changes) => changes.publish([id]))
    yield* TestClock.adjust("1 second")
    yield* Host.fail(id)
    yield* TestClock.adjust("1 second")
    const answer = yield* Fiber.join(following)
    assert.deepStrictEqual(statesOf(answer), ["queued", "processing", "failed"])
    assert.strictEqual(answer.headers["content-type"], "text/event-stream")
    assert.strictEqual(answer.headers["cache-control"], "no-cache")
    assert.strictEqual(answer.headers["x-accel-buffering"], "no")
    assert.strictEqual(limitOf(answer).limit, 300)
    yield* Host.held("wait", keyId, 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends the state of a job that has ended", () =>
  Effect.gen(function*() {
    const { follow, id } = yield* createOne()
    yield* Host.fail(id)
    assert.deepStrictEqual(statesOf(yield* follow), ["failed"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends comments while the state does not change, so that proxies keep the stream open", () =>
  Effect.gen(function*() {
    const { follow, id, keyId } = yield* createOne()
    const following = yield* Effect.forkChild(follow)
    yield* Host.held("wait", keyId, 1)
    yield* TestClock.adjust("31 seconds")
    yield* Host.fail(id)
    yield* TestClock.adjust("1 second")
    const blocks = blocksOf(yield* Fiber.join(following))
    assert.deepStrictEqual(blocks.map(([first]) => first), ["id: queued", ": still here", ": still here", "id: failed"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends only the current state if no place is left, and frees the place of a client that disconnects", () =>
  Effect.gen(function*() {
    const { follow, keyId } = yield* createOne({ longPollsMax: 1 })
    const following = yield* Effect.forkChild(follow)
    yield* Host.held("wait", keyId, 1)
    const answer = yield* follow
    const [[comment]] = blocksOf(answer) as [[string]]
    assert.match(comment, /^: too many requests of this key wait;/)
    assert.isTrue(answer.text.endsWith("\n\nretry: 5000\n\n"))
    assert.deepStrictEqual(statesOf({ ...answer, text: answer.text.slice(comment.length + 2) }), ["queued"])
    yield* Fiber.interrupt(following)
    yield* Host.held("wait", keyId, 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends the final state once more, but 204 to a client that has the final state", () =>
  Effect.gen(function*() {
    const { follow, id, key, send } = yield* createOne()
    const after = (state: string) =>
      send("GET", `/v1/generations/${id}/events`, { key, headers: { "last-event-id": state } })
    yield* Host.fail(id)
    assert.deepStrictEqual(statesOf(yield* follow), ["failed"])
    assert.notInclude((yield* follow).text, "retry:")
    assert.deepStrictEqual(statesOf(yield* after("processing")), ["failed"])
    const done = yield* after("failed")
    assert.deepStrictEqual([done.status, done.text], [204, ""])
    assert.strictEqual(limitOf(done).limit, 300)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects unknown jobs and those of other accounts with the envelope", () =>
  Effect.gen(function*() {
    const { id, send } = yield* createOne()
    const { key } = yield* Host.openAccount({ email: "other@example.com" })
    for (const path of [id, "gen_1"]) {
      errorOf(yield* send("GET", `/v1/generations/${path}/events`, { key }), "not_found")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
