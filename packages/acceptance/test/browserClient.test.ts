/** `@kinora/client` on a page in a real browser. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import * as Books from "../src/Books.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Browser from "./browser.ts"

/** One red pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64"
)

/** Bundles the client as the global `Client`. */
const bundle = Effect.promise(async () => {
  const { output: [chunk] } = await build({
    input: fileURLToPath(import.meta.resolve("@kinora/client")),
    platform: "browser",
    write: false,
    resolve: { conditionNames: ["@kinora/source", "import", "default"] },
    output: { format: "iife", name: "Client" }
  })
  return chunk.code
})

/** Uses the client on the page: a job and its picture, the list, and an error. */
const useOf = (apiKey: string) =>
  `(async () => {
  const kinora = new Client.Kinora({ apiKey: ${JSON.stringify(apiKey)}, baseUrl: location.origin })
  const states = []
  const wish = { plan: "credits", model: "picture", params: { prompt: "a lake" } }
  const result = await kinora.generate(wish, { onUpdate: ({ status }) => states.push(status) })
  const bytes = await result.bytes()
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }))
  const listed = []
  for await (const { status } of kinora.generations.list()) listed.push(status)
  const refused = await kinora.generate({ ...wish, model: "none" }).catch((error) => error)
  return {
    last: states.at(-1), bytes: bytes.length, width: picture.width, listed,
    refused: { code: refused.code, isTyped: refused instanceof Client.ResponseError }
  }
})()`

const Seen = Schema.Struct({
  last: Schema.String,
  bytes: Schema.Number,
  width: Schema.Number,
  listed: Schema.Array(Schema.String),
  refused: Schema.Struct({ code: Schema.String, isTyped: Schema.Boolean })
})

describe("@kinora/client", { timeout: 600_000 }, () => {
  it.live("generates a picture and reads its bytes on a page of the service's origin", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const files = { picture: { mime: "image/png", bytes: png } } as const
      const host = yield* Layer.build(
        LocalHost.layer({ models: FileGenerator.models(files), generator: FileGenerator.layer(files) })
      )
      const { key } = yield* Effect.provide(Books.openAccount({ credits: 10 }), host)
      const launched = yield* Browser.launch(Browser.path)
      const page = yield* Effect.promise(() => launched.newPage())
      const baseUrl = yield* Effect.provide(LocalHost.baseUrl, host)
      yield* Effect.promise(() => page.goto(`${baseUrl}/healthz`))
      const code = yield* bundle
      // As a classic script, so that its declarations are global.
      yield* Effect.promise(() => page.evaluate(`(0, eval)(${JSON.stringify(code)})`))
      const seen = yield* Effect.promise(() => page.evaluate(useOf(key)))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Seen)(seen), {
        last: "completed",
        bytes: png.length,
        width: 1,
        listed: ["completed"],
        refused: { code: "model_not_found", isTyped: true }
      })
    }))
})
