import { assert, layer } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { readFile } from "node:fs/promises"
import * as Drivers from "../src/Drivers.ts"
import * as Http from "../src/Http.ts"
import * as Notifications from "../src/Notifications.ts"
import * as Services from "../src/Services.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"
import * as Guide from "./Guide.ts"

const guide = Effect.promise(() => readFile(new URL("../../../docs/operations.md", import.meta.url), "utf8"))

const token = "the token of the operators of this service"

/** What an operator has: a server without accounts. No worker, so that nothing moves by itself. */
class Operator extends Context.Service<Operator, { readonly baseUrl: string }>()("test/Operator") {
  static readonly layer = Layer.effect(
    Operator,
    Effect.map(HttpServer.addressFormattedWith(Effect.succeed), (baseUrl) => ({ baseUrl }))
  ).pipe(
    Layer.provide(
      Http.layer({ host: "127.0.0.1", port: 0, interface: { adminToken: Redacted.make(token) }, grace: 0 })
    ),
    Layer.provide(Readiness.layerAlways),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service knows")] })),
    Layer.provide(Services.layer({})),
    Layer.provide([
      Stores.layerMemory,
      BlobStore.layerMemory,
      Notifications.layerLocal,
      Drivers.layer,
      Webhook.layerProtection({
        keys: [Redacted.make("at least 32 bytes that seal what the service keeps")],
        lookup: { addresses: () => Effect.succeed(["1.1.1.1"]), aliases: () => Effect.succeed([]) }
      })
    ])
  )
}

/** What an answer has that a later command names. */
const Named = Schema.Struct({ id: Schema.String, key: Schema.optionalKey(Schema.String) })

layer(Operator.layer, { excludeTestServices: true })("docs/operations.md", (it) => {
  it.effect("shows the answers that an operator's commands get (D50)", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Operator
      const variables: Record<string, string> = { BASE: baseUrl, TOKEN: token }
      const steps = Guide.parse(yield* guide)
      assert.strictEqual(steps.length, 11)
      for (const { answer, command } of steps) {
        // The reader's customer has made a job meanwhile.
        if (command.includes("$JOB/")) variables["JOB"] = yield* createJob(baseUrl, variables["KEY"] ?? "")
        const { body, headers, method, url } = Guide.toRequest(command, variables)
        const response = yield* Effect.promise((signal) => fetch(url, { method, headers, body, signal }))
        const json: unknown = JSON.parse(yield* Effect.promise(() => response.text()))
        assert.strictEqual(`HTTP/1.1 ${response.status} ${response.statusText}`, answer.statusLine, command)
        assert.deepStrictEqual(Guide.asShown(json, answer.body), Guide.asShown(answer.body, answer.body), command)
        if (!Schema.is(Named)(json)) continue
        if (json.id.startsWith("acct_")) variables["ACCOUNT"] = json.id
        if (json.id.startsWith("whep_")) variables["ENDPOINT"] = json.id
        if (json.key !== undefined) variables["KEY"] = json.key
      }
    }))
})

const createJob = Effect.fnUntraced(function*(baseUrl: string, key: string) {
  const response = yield* Effect.promise((signal) =>
    fetch(`${baseUrl}/v1/generations`, {
      method: "POST",
      headers: { "authorization": `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ plan: "credits", model: "kinora-canvas-1", params: { prompt: "a lake" } }),
      signal
    })
  )
  const { id } = yield* Schema.decodeUnknownEffect(Named)(yield* Effect.promise(() => response.json()))
  return id
})
