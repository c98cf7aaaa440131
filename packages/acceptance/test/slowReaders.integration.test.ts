/**
 * Clients that read a large result slowly, disconnect, or lose their server: their memory, and the bytes that count for
 * the account.
 */
import { assert, describe, it } from "@effect/vitest"
import type { ModelInput } from "@kinora/catalog/Model"
import { Places } from "@kinora/rate-limit"
import { Effect, Layer, Schedule, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as RawHttp from "../src/RawHttp.ts"
import { makeSite } from "./sites.ts"

const mebibyte = 1024 ** 2
/** More than three blocks, so a stream that does not wait for its reader reserves a second one. */
const size = 64 * mebibyte
const large: ModelInput = {
  ...Drill.model({ id: "drill-large" }),
  kind: "video",
  capabilities: ["text_to_video"],
  output_formats: ["video/mp4"],
  driver: { name: "scripted", options: { bytes: size } }
}

/** Bytes that a server reserves for a stream at a time (`downloadBlockBytes`). */
const block = 16 * mebibyte

describe.concurrent("slow readers", { timeout: 600_000 }, () => {
  it.live("200 of them use less than 128 KiB each, slow the server down, and count by the bytes that were sent", () =>
    Effect.gen(function*() {
      const readersCount = 200
      const { account, open, server, used } = yield* serveLarge({
        KINORA_DOWNLOAD_STREAMS: String(2 * readersCount),
        KINORA_DOWNLOAD_MULTIPLE: "100",
        KINORA_RESPONSE_STALL_SECONDS: "600"
      })
      const openMany = (count: number) =>
        Effect.forEach(Array.from({ length: count }), () => open(server), { concurrency: 20 })

      // The first readers warm the server up. Their memory does not count.
      yield* Effect.scoped(openMany(20))
      yield* account.released
      const [before, usedBefore] = [yield* server.memoryInUse, yield* used(server)]

      yield* Effect.gen(function*() {
        yield* openMany(readersCount)
        // A chunk of 64 KiB and the objects of a request, 99 KiB in total. One more chunk would exceed it.
        const readerMax = 128 * 1024
        // Until the buffers of the system are full, which takes long on a busy machine, a stream also holds the chunk that
        // it reads.
        const grown = yield* Effect.repeat(Effect.map(server.memoryInUse, (now) => now - before), {
          until: (grown) => grown / readersCount < readerMax,
          schedule: Schedule.spaced("1 second"),
          times: 60
        })
        assert.isBelow(grown / readersCount, readerMax)
        // Each has read a little, and the buffers of the system are full. No stream has reserved a second block.
        assert.isAtMost((yield* used(server)) - usedBefore, readersCount * block)
        assert.isAbove((yield* used(server)) - usedBefore, readersCount * readMin)
      }).pipe(Effect.scoped)

      yield* account.released
      const sent = (yield* used(server)) - usedBefore
      assert.isAtLeast(sent, readersCount * readMin)
      assert.isBelow(sent, readersCount * block)

      const part = yield* Client.send(account.url(server), { headers: { range: "bytes=1000-300999" } })
      assert.deepStrictEqual([part.status, part.bytes.length], [206, 300_000])
      yield* account.released
      assert.strictEqual((yield* used(server)) - usedBefore, sent + 300_000)
    }))

  it.live("of a killed server release their places and all reserved bytes that were not sent", () =>
    Effect.gen(function*() {
      const { account, environment, open, server, used } = yield* serveLarge({})
      yield* Effect.forEach(Array.from({ length: 8 }), () => open(server), { concurrency: 8 })
      const refused = yield* Client.send(account.url(server), { method: "HEAD" })
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "5"])
      const heir = yield* Program.startServer({ ...environment, KINORA_WORKERS: "0" })
      yield* server.kill

      // Every place is a lease of 30 seconds.
      const url = account.url(heir)
      const ask = Client.send(url, { headers: { range: "bytes=0-99" } })
      const first = yield* ask
      assert.deepStrictEqual([first.status, Client.errorCodeOf(first)], [429, "download_limited"])
      const later = yield* Effect.repeat(ask, {
        until: ({ status }) => status !== 429,
        schedule: Schedule.spaced("1 second")
      })
      assert.deepStrictEqual([later.status, later.bytes.length], [206, 100])
      yield* account.released
      const counted = yield* used(heir)
      assert.isAtLeast(counted, 8 * readMin + 100)
      // The readers had requested 512 MiB.
      assert.isAtMost(counted, 8 * block + 100)
    }))
})

/** Minimum number of bytes that a reader reads before it stops. */
const readMin = 64 * 1024

const Account = Schema.fromJsonString(
  Schema.Struct({ results: Schema.Struct({ download: Schema.Struct({ used_bytes_today: Schema.Int }) }) })
)

const decodeAccount = (bytes: Uint8Array) =>
  Schema.decodeEffect(Account)(new TextDecoder().decode(bytes)).pipe(
    Effect.map(({ results }) => results.download.used_bytes_today),
    Effect.orDie
  )

/** Starts a server with one account that has a large result. */
const serveLarge = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>>) {
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
