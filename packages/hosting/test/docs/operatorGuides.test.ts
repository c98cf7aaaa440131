import { assert, layer } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as Drivers from "../../src/Drivers.ts"
import * as Http from "../../src/Http.ts"
import * as Notifications from "../../src/Notifications.ts"
import * as Services from "../../src/Services.ts"
import * as Stores from "../../src/Stores.ts"
import * as Webhook from "../../src/Webhook.ts"
import * as Guide from "./Guide.ts"
import * as Page from "./Page.ts"

/** Pages for operators in the order in which this test follows them. */
const pages = ["how-to/manage-accounts.md", "how-to/register-webhooks.md"]

const token = "the token of the operators of this service"

/** A server without accounts and without a worker, so that jobs stay queued. */
class Operator extends Context.Service<Operator, { readonly baseUrl: string }>()("test/Operator") {
  static readonly layer = Layer.effect(
    Operator,
    Effect.map(HttpServer.addressFormattedWith(Effect.succeed), (baseUrl) => ({ baseUrl }))
  ).pipe(
    Layer.provide(
      Http.layer({ host: "127.0.0.1", port: 0, interface: { adminToken: Redacted.make(token) }, grace: 0 })
    ),
    Layer.provide(Readiness.layerAlways),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] })),
    Layer.provide(Services.layer({})),
    Layer.provide([
      Stores.layerMemory,
      BlobStore.layerMemory,
      Notifications.layerLocal,
      Drivers.layer(),
      Webhook.layerProtection({
        keys: [Redacted.make("at least 32 bytes that seal what the service keeps")],
        lookup: { addresses: () => Effect.succeed(["1.1.1.1"]), aliases: () => Effect.succeed([]) }
      })
    ])
  )
}

/** The parts of a response that later commands use. */
const Named = Schema.Struct({ id: Schema.String, key: Schema.optionalKey(Schema.String) })

layer(Operator.layer, { excludeTestServices: true })("docs for operators", (it) => {
  it.effect("shows the responses to its commands", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Operator
      const variables: Record<string, string> = { BASE: baseUrl, TOKEN: token }
      const steps = Guide.parse((yield* Effect.forEach(pages, Page.read)).join("\n"))
      assert.strictEqual(steps.length, 13)
      for (const { command, response: shown } of steps) {
        // The page assumes a job of the customer.
        if (command.includes("$JOB/")) variables["JOB"] = yield* createJob(baseUrl, variables["KEY"] ?? "")
        const { body, headers, method, url } = Guide.toRequest(command, variables)
        const response = yield* Effect.promise((signal) => fetch(url, { method, headers, body, signal }))
        const json: unknown = JSON.parse(yield* Effect.promise(() => response.text()))
        assert.strictEqual(`HTTP/1.1 ${response.status} ${response.statusText}`, shown.statusLine, command)
        assert.deepStrictEqual(Guide.asShown(json, shown.body), Guide.asShown(shown.body, shown.body), command)
        if (!Schema.is(Named)(json)) continue
        if (json.id.startsWith("acct_")) variables["ACCOUNT"] = json.id
        if (json.id.startsWith("key_")) variables["KEYID"] = json.id
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
      body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }),
      signal
    })
  )
  const { id } = yield* Schema.decodeUnknownEffect(Named)(yield* Effect.promise(() => response.json()))
  return id
})
