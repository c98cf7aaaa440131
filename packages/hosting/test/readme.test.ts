import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect, Option, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openAccount, openAccountIn } from "../example/account.ts"
import { host } from "../example/host.ts"
import * as Host from "../src/Host.ts"
import * as Settings from "../src/Settings.ts"

const Created = Schema.Struct({ id: Schema.String })
const Completed = Schema.Struct({
  status: Schema.Literal("completed"),
  output: Schema.Struct({ url: Schema.String, bytes: Schema.Int })
})

it.live("prints what the first example of the README shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Example.printed(() => import("../example/memory.ts")), "200 300")
  }))

it.live("runs a job on the README's example host", () =>
  Effect.gen(function*() {
    const { key } = yield* openAccount("ada@example.com", 10)
    const baseUrl = yield* HttpServer.addressFormattedWith(Effect.succeed)
    const headers = { "authorization": `Bearer ${Redacted.value(key)}`, "content-type": "application/json" }
    const ask = (path: string, init?: RequestInit) =>
      Effect.promise(async () => (await fetch(`${baseUrl}${path}`, { ...init, headers })).json())

    const request = { plan: "studio", model: "ink-1", params: { prompt: "a lake" } }
    const created = yield* ask("/v1/generations", { method: "POST", body: JSON.stringify(request) })
    const { id } = yield* Schema.decodeUnknownEffect(Created)(created)
    const { output } = yield* Schema.decodeUnknownEffect(Completed)(yield* ask(`/v1/generations/${id}?wait=20`))
    const picture = yield* Effect.promise(() => fetch(output.url))
    assert.strictEqual(picture.headers.get("content-type"), "image/png")
    assert.strictEqual((yield* Effect.promise(() => picture.arrayBuffer())).byteLength, output.bytes)
  }).pipe(Effect.provide(host)))

it.live("finds the README's example account after a restart", () =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-account-"))),
    (directory) =>
      Effect.gen(function*() {
        yield* TestDatabase.unpackPglite(join(directory, "database"))
        const settings = yield* Settings.load({ KINORA_DATA_DIR: directory })
        const { id, key } = yield* openAccountIn(settings, "ada@example.com", 10)
        const found = yield* Accounts.Accounts.use(({ authenticate }) => authenticate(key)).pipe(
          Effect.provide(Host.layer(settings))
        )
        assert.strictEqual(Option.getOrThrow(found).account.id, id)
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  ))

it.effect("shows the examples in the README", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/memory.ts"))
    assert.include(readme, yield* read("../example/host.ts"))
    assert.include(readme, yield* read("../example/account.ts"))
  }))
