/** Where client libraries get their images from: a server, accounts, and a record of what a client sent. */
import { assert } from "@effect/vitest"
import * as DefaultModels from "@kinora/catalog/DefaultModels"
import type { ModelInput } from "@kinora/catalog/Model"
import { Context, Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

/** For credits only, so that no plan need be named. */
const drill = (options: Drill.DrillOptions): ModelInput => ({ ...Drill.model(options), studio_eligible: false })

/** What the server makes. */
export const models: ReadonlyArray<ModelInput> = [
  DefaultModels.sketch,
  drill({ id: "drill" }),
  drill({ id: "drill-dear", credits: 1_000 }),
  drill({ id: "drill-failing", failure: "generation_failed" }),
  drill({ id: "drill-rejecting", failure: "content_rejected" }),
  drill({ id: "drill-slow", delay: "4 seconds" }),
  drill({ id: "drill-endless", delay: "5 minutes" }),
  { ...drill({ id: "drill-paused" }), status: "paused" },
  { ...drill({ id: "drill-video" }), kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] },
  // For an id like this some clients leave out `response_format` and count on base64.
  { ...drill({ id: "gpt-image-drill" }), response_format: "b64_json" }
]

/** A server that works, and one that waits for images no longer than 2 seconds. */
export class ImageServer extends Context.Service<ImageServer, {
  /** What a client library is told as its base URL. */
  readonly baseUrl: string
  /** The same of the server that does not wait long. */
  readonly hastyBaseUrl: string
  /** A new account with both plans and 100 credits. */
  readonly openAccount: Effect.Effect<Books.TestAccount>
  /** Every job of the account, and how often it was charged and refunded. */
  readonly bookOf: (account: Books.TestAccount) => Effect.Effect<Book>
}>()("test/ImageServer") {
  static readonly layer = Layer.effect(
    ImageServer,
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const { baseUrl } = yield* Program.startServer(site.environment)
      const hasty = yield* Program.startServer({ ...site.environment, KINORA_IMAGE_WAIT_SECONDS: "2" })
      return ImageServer.of({
        baseUrl: `${baseUrl}/v1`,
        hastyBaseUrl: `${hasty.baseUrl}/v1`,
        openAccount: Effect.orDie(Books.use(site, Books.openAccount({ credits: 100 }))),
        bookOf: Effect.fnUntraced(function*({ id, key }) {
          const { charges, refunds } = yield* Books.use(site, Books.movementsOf(id))
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

/** What a client sent, in order, and what it was answered. */
export interface Exchange {
  readonly method: string
  readonly status: number
  /** What the server asked it to wait, in milliseconds, and when it was told. */
  readonly retryAfterMs: string | null
  readonly sentAt: number
  readonly answeredAt: number
}

/** The `fetch` that client libraries take anyway, and what went through it. */
export const makeRecorder = () => {
  const exchanges: Array<Exchange> = []
  const recorded: typeof fetch = async (input, init) => {
    const sentAt = performance.now()
    const response = await fetch(input, init)
    // Libraries find out with a `data:` URL what `fetch` can do.
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

/** Asserts that an image came after a 504, each of which was repeated no sooner than it said. */
export const assertPatient = (exchanges: ReadonlyArray<Exchange>) => {
  assert.isAtLeast(exchanges.length, 2)
  assert.deepStrictEqual(exchanges.map(({ status }) => status), [...exchanges.slice(1).map(() => 504), 200])
  for (const [index, { sentAt }] of exchanges.slice(1).entries()) {
    const { answeredAt, retryAfterMs } = exchanges[index] ?? assert.fail("nothing came before")
    assert.strictEqual(retryAfterMs, "1000")
    assert.isAtLeast(sentAt - answeredAt, 990)
  }
}

/** Width and height of a PNG; fails on what is none. */
export const pngSizeOf = (bytes: Uint8Array): readonly [width: number, height: number] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0) !== 0x89504e47) throw new Error("This is not a PNG")
  return [view.getUint32(16), view.getUint32(20)]
}
