import { assert, layer } from "@effect/vitest"
import { DefaultModels } from "@kinora/catalog"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DemoAccount from "../../src/DemoAccount.ts"
import * as Drivers from "../../src/Drivers.ts"
import * as Http from "../../src/Http.ts"
import * as Notifications from "../../src/Notifications.ts"
import * as Services from "../../src/Services.ts"
import * as Stores from "../../src/Stores.ts"
import * as Webhook from "../../src/Webhook.ts"
import * as Work from "../../src/Work.ts"
import * as Guide from "./Guide.ts"
import * as Page from "./Page.ts"

/** Milliseconds. Paints pictures while other tests run. */
const timeout = 120_000

/** Pages for API clients in the order in which this test follows them: later ones use jobs and files of earlier ones. */
const pages = [
  "tutorials/first-picture.md",
  "how-to/follow-a-job.md",
  "how-to/download-results.md",
  "how-to/read-usage.md",
  "how-to/cancel-a-job.md",
  "how-to/retry-requests.md",
  "how-to/use-input-images.md",
  "how-to/use-an-openai-client.md"
]

/** The models of a first start. Jobs of `kinora-still` do not end, so that a second one is pending and can be cancelled. */
const models = [
  DefaultModels.draft,
  { ...DefaultModels.still, driver: { name: "scripted", options: { delay: "1 hour" } }, time_limit: "2 hours" }
]

/** A server with its demo account. */
class Reader extends Context.Service<Reader, { readonly baseUrl: string; readonly key: string }>()("test/Reader") {
  static readonly layer = Layer.effect(
    Reader,
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-guide-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true }))
      )
      const key = Option.getOrThrow(yield* DemoAccount.ensure(directory))
      return Reader.of({
        baseUrl: yield* HttpServer.addressFormattedWith(Effect.succeed),
        key: Redacted.value(key)
      })
    })
  ).pipe(
    Layer.provide(Http.layer({ host: "127.0.0.1", port: 0, interface: {}, grace: 0 })),
    Layer.provide(Readiness.layerAlways),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] })),
    Layer.provide(Work.layerWorker({ name: "test", concurrency: 4, grace: 0 })),
    Layer.provide(Services.layer({ models })),
    Layer.provide([
      Stores.layerMemory,
      BlobStore.layerMemory,
      Notifications.layerLocal,
      Drivers.layer({ models }),
      Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
    ])
  )
}

const Job = Schema.Struct({
  id: Schema.String,
  output: Schema.optionalKey(Schema.NullOr(Schema.Struct({ url: Schema.String })))
})

layer(Reader.layer, { excludeTestServices: true })("docs for API clients", (it) => {
  it.effect("shows the responses to its commands", () =>
    Effect.gen(function*() {
      const { baseUrl, key } = yield* Reader
      const variables: Record<string, string> = { BASE: baseUrl, KEY: key }
      const files: Record<string, Uint8Array<ArrayBuffer>> = {}
      const steps = Guide.parse((yield* Effect.forEach(pages, Page.read)).join("\n"))
      assert.isAbove(steps.length, 20)
      for (const { command, response: shown } of steps) {
        const { body, headers, method, output, url } = Guide.toRequest(command, variables, files)
        const response = yield* Effect.promise((signal) => fetch(url, { method, headers, body, signal }))
        const bytes = yield* Effect.promise(() => response.bytes())
        if (output !== undefined) files[output] = new Uint8Array(bytes)
        assert.strictEqual(`HTTP/1.1 ${response.status} ${response.statusText}`, shown.statusLine, command)
        for (const [name, value] of Object.entries(shown.headers)) {
          const actual = response.headers.get(name) ?? "(absent)"
          assert.strictEqual(Guide.withoutRandomness(actual), Guide.withoutRandomness(value), `${name} of ${command}`)
        }
        if (shown.body === undefined) continue
        const contentType = response.headers.get("content-type") ?? undefined
        const json = Guide.parseBody(contentType, new TextDecoder().decode(bytes))
        assert.deepStrictEqual(Guide.asShown(json, shown.body), Guide.asShown(shown.body, shown.body), command)
        // A reader copies the id and the link of a response into the next command.
        if (!Schema.is(Job)(json)) continue
        variables[json.id.startsWith("upl_") ? "UPLOAD" : "ID"] = json.id
        if (json.output) variables["URL"] = json.output.url
      }
    }), timeout)
})
