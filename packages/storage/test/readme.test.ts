import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { readFile } from "node:fs/promises"
import { answer, keep, layer } from "../example/http.ts"
import { bytesOf, streamOf } from "../src/internal/contract/bytes.ts"

it.live("the first example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const lines = yield* Example.printed(() => import("../example/memory.ts"))
    assert.strictEqual(lines, "14 large Valid Expired")
  }))

it.live("the example without Effect prints what it shows", () =>
  Effect.gen(function*() {
    const lines = yield* Example.printed(() => import("../example/promise.ts"))
    assert.strictEqual(lines, "14 large\nValid Wrong")
  }))

it.effect("the HTTP example of the README responds with ranges and rejects other links", () =>
  Effect.gen(function*() {
    const bytes = bytesOf(10_000)
    const { blob, url } = yield* keep("gen_1", streamOf(bytes))
    const link = new URL(url, "http://localhost")
    const read = (range?: string) => Effect.map(answer(blob, link, range), HttpServerResponse.toWeb)

    const whole = yield* read()
    assert.strictEqual(whole.status, 200)
    assert.deepStrictEqual(yield* bodyOf(whole), bytes)

    const part = yield* read("bytes=-100")
    assert.strictEqual(part.status, 206)
    assert.strictEqual(part.headers.get("content-range"), "bytes 9900-9999/10000")
    assert.deepStrictEqual(yield* bodyOf(part), bytes.slice(-100))

    const beyond = yield* read("bytes=10000-")
    assert.strictEqual(beyond.status, 416)
    assert.strictEqual(beyond.headers.get("content-range"), "bytes */10000")

    const other = new URL(`/results/gen_2${link.search}`, link)
    assert.strictEqual((yield* answer(blob, other, undefined)).status, 401)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual((yield* read()).status, 403)
  }).pipe(Effect.provide(layer)))

it.live("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/memory.ts"))
    assert.include(readme, yield* read("../example/http.ts"))
    assert.include(readme, yield* read("../example/promise.ts"))
    assert.include(readme, yield* read("./contract.test.ts"))
  }))

const bodyOf = (response: Response) =>
  Effect.map(Effect.promise(() => response.arrayBuffer()), (buffer) => new Uint8Array(buffer))
