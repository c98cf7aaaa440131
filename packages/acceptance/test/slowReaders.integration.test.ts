/**
 * Clients that read a large result slowly, disconnect, or lose their server: their memory, and the bytes that count for
 * the account.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import { block, readMin, serveLarge } from "./largeResult.ts"

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

  it.live("that receive nothing for the time of the setting lose their connections and their places", () =>
    Effect.gen(function*() {
      const { account, open, server, used } = yield* serveLarge({ KINORA_RESPONSE_STALL_SECONDS: "2" })
      yield* Effect.forEach(Array.from({ length: 8 }), () => open(server), { concurrency: 8 })
      // The readers stay connected.
      yield* account.released
      assert.isBelow(yield* used(server), 8 * block)
      assert.strictEqual((yield* Client.send(account.url(server), { method: "HEAD" })).status, 200)
    }).pipe(Effect.scoped))

  it.live("of a suspended account lose their connections", () =>
    Effect.gen(function*() {
      const { account, open, server } = yield* serveLarge({})
      yield* open(server)
      yield* account.suspend
      yield* account.released
      const refused = yield* Client.send(account.url(server))
      assert.deepStrictEqual([refused.status, Client.errorCodeOf(refused)], [403, "account_suspended"])
    }).pipe(Effect.scoped))
})
