/** A server and accounts for tests of client libraries, and a record of their requests. */
import { assert } from "@effect/vitest"
import * as DefaultModels from "@kinora/catalog/DefaultModels"
import type { ModelInput } from "@kinora/catalog/Model"
import { Context, Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

/** Models that Studio does not include need no `plan`. */
const drill = (options: Drill.DrillOptions): ModelInput => ({ ...Drill.model(options), studio_eligible: false })

/** Models of the server. */
export const models: ReadonlyArray<ModelInput> = [
  ...DefaultModels.models,
  drill({ id: "drill" }),
  drill({ id: "drill-dear", credits: 1_000 }),
  drill({ id: "drill-failing", failure: "generation_failed" }),
  drill({ id: "drill-rejecting", failure: "content_rejected" }),
  drill({ id: "drill-slow", delay: "4 seconds" }),
  drill({ id: "drill-endless", delay: "5 minutes" }),
  { ...drill({ id: "drill-paused" }), status: "paused" },
  { ...drill({ id: "drill-video" }), kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] },
  // Some clients expect base64 from models with such an id and send no `response_format`.
  { ...drill({ id: "gpt-image-drill" }), response_format: "b64_json" }
]

/** A server, and one that waits for images for 2 seconds at most. */
export class ImageServer extends Context.Service<ImageServer, {
  /** Base URL for a client library. */
  readonly baseUrl: string
  /** Base URL of the server that waits for 2 seconds. */
  readonly hastyBaseUrl: string
  /** Opens an account with both plans and 100 credits. */
  readonly openAccount: Effect.Effect<Books.TestAccount>
  /** Number of the account's jobs, charges and refunds. */
  readonly bookOf: (account: Books.TestAccount) => Effect.Effect<Book>
}>()("test/ImageServer") {
  static readonly layer = Layer.effect(
    ImageServer,
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const { baseUrl } = yield* Program.startServer(site.environment)
      const hasty = yield* Program.startServer({ ...site.environment, KINORA_IMAGE_WAIT_SECONDS: "2" })
      const books = yield* Layer.build(Books.layer(site))
      return ImageServer.of({
        baseUrl: `${baseUrl}/v1`,
        hastyBaseUrl: `${hasty.baseUrl}/v1`,
        openAccount: Effect.orDie(Effect.provide(Books.openAccount({ credits: 100 }), books)),
        bookOf: Effect.fnUntraced(function*({ id, key }) {
          const { charges, refunds } = yield* Effect.provide(Books.movementsOf(id), books)
          const answer = yield* Client.make(baseUrl, key).request("/v1/generations?limit=100")
          return { jobs: Client.jobsOf(answer).length, charges, refunds }
        }, Effect.orDie)
      })
    })
  )
}

/** See `ImageServer`. */
export interface Book {
  readonly jobs: number
  readonly charges: number
  readonly refunds: number
}

/** A request and its response. */
export interface Exchange {
  readonly method: string
  readonly status: number
  /** The requested delay in milliseconds. */
  readonly retryAfterMs: string | null
  readonly sentAt: number
  readonly answeredAt: number
}

/** A `fetch` that records its requests. */
export const makeRecorder = () => {
  const exchanges: Array<Exchange> = []
  const recorded: typeof fetch = async (input, init) => {
    const sentAt = performance.now()
    const response = await fetch(input, init)
    // Libraries request a `data:` URL to detect features of `fetch`.
    if (!response.url.startsWith("http")) return response
    exchanges.push({
      method: init?.method ?? "GET",
      status: response.status,
      retryAfterMs: response.headers.get("retry-after-ms"),
      sentAt,
      answeredAt: performance.now()
    })
    return response
  }
  return { exchanges, fetch: recorded }
}

/** Asserts that 504s preceded the image, and that each was retried no sooner than requested. */
export const assertPatient = (exchanges: ReadonlyArray<Exchange>) => {
  assert.isAtLeast(exchanges.length, 2)
  assert.deepStrictEqual(exchanges.map(({ status }) => status), [...exchanges.slice(1).map(() => 504), 200])
  for (const [index, { sentAt }] of exchanges.slice(1).entries()) {
    const { answeredAt, retryAfterMs } = exchanges[index] ?? assert.fail("nothing came before")
    assert.strictEqual(retryAfterMs, "1000")
    assert.isAtLeast(sentAt - answeredAt, 990)
  }
}

/** Width and height of a PNG. Throws if it is not one. */
export const pngSizeOf = (bytes: Uint8Array): readonly [width: number, height: number] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0) !== 0x89504e47) throw new Error("This is not a PNG")
  return [view.getUint32(16), view.getUint32(20)]
}
