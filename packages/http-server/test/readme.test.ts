import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { readFile } from "node:fs/promises"
import { host } from "../example/host.ts"
import * as Host from "./Host.ts"

it.effect("serves the routes with the README's example", () =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/readyz`))
    assert.strictEqual(response.status, 200)
  }).pipe(Effect.provide(Layer.provide(host, Host.services))))

it.effect("shows the example in the README as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/host.ts"))
  }))
