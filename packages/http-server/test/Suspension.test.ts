import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AccountDeletion } from "@kinora/generations"
import { Generation } from "@kinora/http-api"
import { Places } from "@kinora/rate-limit"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const open = Effect.fnUntraced(function*(options: Parameters<typeof Host.start>[0] = {}) {
  const send = yield* Host.start(options)
  const { account, key, keyId } = yield* Host.openAccount()
  const suspend = Accounts.Accounts.use((accounts) => accounts.suspend(account.id))
  return { account, key, keyId, send, suspend }
})

/** The path and the signature of a completed job's result. */
const signedPath = ({ json }: Host.Answer) => {
  const { output } = Schema.decodeUnknownSync(Generation.Generation)(json)
  const { pathname, search } = new URL(output?.url ?? "")
  return `${pathname}${search}`
}

it.effect("rejects signed URLs of a suspended account within 5 seconds, and accepts them again afterwards", () =>
  Effect.gen(function*() {
    const { account, key, send, suspend } = yield* open()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(10))
    const path = signedPath(yield* send("GET", `/v1/generations/${id}`, { key }))
    assert.strictEqual((yield* send("GET", path)).status, 200)
    yield* suspend
    yield* TestClock.adjust("5 seconds")
    errorOf(yield* send("GET", path), "account_suspended")
    errorOf(yield* send("GET", path.replace("sig=", "sig=x")), "invalid_signature")
    yield* Accounts.Accounts.use((accounts) => accounts.resume(account.id))
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* send("GET", path)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects the keys and the signed URLs of a deleted account", () =>
  Effect.gen(function*() {
    const { account, key, send } = yield* open()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(10))
    const path = signedPath(yield* send("GET", `/v1/generations/${id}`, { key }))
    assert.strictEqual((yield* send("GET", path)).status, 200)
    yield* AccountDeletion.AccountDeletion.use((deletion) => deletion.delete(account.id))
    errorOf(yield* send("GET", "/v1/models", { key }), "unauthorized")
    yield* TestClock.adjust("5 seconds")
    errorOf(yield* send("GET", path), "account_suspended")
    yield* Accounts.Accounts.use((accounts) => accounts.restore(account.id))
    errorOf(yield* send("GET", "/v1/models", { key }), "unauthorized")
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* send("GET", path)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends event streams and waits of a suspended account within 5 seconds", () =>
  Effect.gen(function*() {
    const { key, keyId, send, suspend } = yield* open()
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    const { json } = yield* send("POST", "/v1/generations", { key, body })
    const { id } = Schema.decodeUnknownSync(Generation.Generation)(json)
    const paths = [`/v1/generations/${id}/events`, `/v1/generations/${id}?wait=60`]
    const waiting = yield* Effect.forEach(paths, (path) => Effect.forkChild(send("GET", path, { key })))
    yield* Host.held("wait", keyId, 2)
    yield* TestClock.adjust("10 seconds")
    assert.isTrue(waiting.every((answer) => answer.pollUnsafe() === undefined))
    yield* suspend
    yield* TestClock.adjust("5 seconds")
    for (const fiber of waiting) assert.include((yield* Fiber.join(fiber)).text, "\"status\":\"queued\"")
    yield* Host.held("wait", keyId, 0)
    errorOf(yield* send("GET", paths[0] ?? "", { key }), "account_suspended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("gives readers of signed URLs places of their own", () =>
  Effect.gen(function*() {
    const { account, key, send } = yield* open({ downloadStreamsMax: 1 })
    const { id } = yield* Host.addCompleted(account, new Uint8Array(10))
    const path = signedPath(yield* send("GET", `/v1/generations/${id}`, { key }))
    const places = yield* Places.Places
    const download = send("GET", `/v1/generations/${id}/content`, { key })
    const statuses = Effect.map(Effect.all([download, send("GET", path)]), (answers) =>
      answers.map(({ status }) => status))
    yield* Effect.scoped(Effect.gen(function*() {
      yield* places.acquire({ key: `links:${account.id}`, max: 1 })
      assert.deepStrictEqual(yield* statuses, [200, 429])
    }))
    yield* Effect.scoped(Effect.gen(function*() {
      yield* places.acquire({ key: `streams:${account.id}`, max: 1 })
      assert.deepStrictEqual(yield* statuses, [429, 200])
    }))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
