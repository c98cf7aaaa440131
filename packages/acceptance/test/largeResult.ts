/** A server with one account that has a large result, and readers of its signed URL. */
import { assert } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import type { ModelInput } from "@kinora/catalog/Model"
import { Places } from "@kinora/rate-limit"
import { Effect, Layer, Schedule, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as RawHttp from "../src/RawHttp.ts"
import { makeSite } from "./sites.ts"

export const mebibyte = 1024 ** 2
/** More than three blocks, so a stream that does not wait for its reader reserves a second one. */
export const size = 64 * mebibyte
/** Bytes that a server reserves for a stream at a time (`downloadBlockBytes`). */
export const block = 16 * mebibyte

/** Minimum number of bytes that a reader reads before it stops. */
export const readMin = 64 * 1024

/** Starts a server with one account that has a large result. */
export const serveLarge = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>>) {
  const site = yield* makeSite("Postgres", [large])
  const environment = { ...site.environment, ...settings }
  const server = yield* Program.startMeasuredServer(environment)
  const books = yield* Layer.build(Books.layer(site))
  const { id, key } = yield* Effect.provide(Books.openAccount({ credits: 1 }), books)
  const created = yield* Client.make(server.baseUrl, key).createJob({ model: large.id })
  const { output } = yield* Client.make(server.baseUrl, key).awaitEnd(created.id)
  assert.strictEqual(output?.bytes, size)
  const { pathname, search } = new URL(output?.url ?? "")
  const target = `${pathname}${search}`

  const held = Effect.provide(Places.Places.use((places) => places.held(`links:${id}`)), books)
  const account = {
    /** Suspends the account. */
    suspend: Effect.provide(
      Effect.flatMap(
        Schema.decodeUnknownEffect(AccountId.schema)(id),
        (account) => Accounts.Accounts.use(({ suspend }) => suspend(account))
      ),
      books
    ),
    /** URL of the result on a server. All servers sign with the same keys. */
    url: ({ baseUrl }: Program.Server) => `${baseUrl}${target}`,
    /** Waits until no stream holds a place. Places are released after the bytes are counted. */
    released: Effect.repeat(held, {
      until: (count) => count === 0,
      // Without pauses, the queries take the processor from the server.
      schedule: Schedule.spaced("100 millis")
    })
  }
  /** Bytes of the day that are used or reserved, as a server reports them. */
  const used = ({ baseUrl }: Program.Server) =>
    Effect.flatMap(Client.make(baseUrl, key).request("/v1/account"), ({ bytes }) => decodeAccount(bytes))
  /** A reader that reads a part, stops, and disconnects when the scope closes. */
  const open = Effect.fnUntraced(function*({ baseUrl }: Program.Server) {
    const socket = yield* RawHttp.open(baseUrl)
    yield* RawHttp.write(socket, { method: "GET", target })
    return yield* RawHttp.readSome(socket, readMin)
  })
  return { account, environment, open, server, used }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const large: ModelInput = {
  ...Drill.model({ id: "drill-large" }),
  kind: "video",
  capabilities: ["text_to_video"],
  output_formats: ["video/mp4"],
  driver: { name: "scripted", options: { bytes: size } }
}

const Account = Schema.fromJsonString(
  Schema.Struct({ results: Schema.Struct({ download: Schema.Struct({ used_bytes_today: Schema.Int }) }) })
)

const decodeAccount = (bytes: Uint8Array) =>
  Schema.decodeEffect(Account)(new TextDecoder().decode(bytes)).pipe(
    Effect.map(({ results }) => results.download.used_bytes_today),
    Effect.orDie
  )
