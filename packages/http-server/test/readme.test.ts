import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { readFile } from "node:fs/promises"
import { host } from "../example/host.ts"
import * as Host from "./Host.ts"

it.live("prints what the first example of the README shows", () =>
  Effect.gen(function*() {
    const printed = yield* Example.printed(() => import("../example/memory.ts"))
    assert.strictEqual(
      printed,
      "200 {\"status\":\"ready\"}\n"
        + "401 {\"error\":{\"code\":\"unauthorized\",\"message\":\"A valid API key is required; "
        + "send the header Authorization: Bearer <key>.\",\"plan\":null,\"details\":{}}}"
    )
  }))

it.effect("serves the routes with the README's example", () =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/readyz`))
    assert.strictEqual(response.status, 200)
  }).pipe(Effect.provide(Layer.provide(host, Host.services))))

it.effect("shows the examples in the README as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    for (const example of ["memory", "postgres", "host"]) {
      assert.include(readme, yield* read(`../example/${example}.ts`))
    }
  }))
