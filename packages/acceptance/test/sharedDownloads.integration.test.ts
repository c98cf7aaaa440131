/** Limits of downloads over several servers, which take bytes of the day in advance for small ranges. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import { block, mebibyte, serveLarge, size } from "./largeResult.ts"

/** The result can be downloaded once per day, in any number of ranges. */
const settings = { KINORA_DOWNLOAD_MULTIPLE: "1", KINORA_DOWNLOAD_STREAMS: "100" }

const range = 64 * 1024

/** Less than half of the limit, so that a server takes bytes in advance until the last one. */
const rangesCount = 400

describe.concurrent("servers that take bytes in advance", { timeout: 600_000 }, () => {
  it.live("grant all of a limit and no more", () =>
    Effect.gen(function*() {
      const { account, environment, server, used } = yield* serveLarge(settings)
      const other = yield* Program.startServer({ ...environment, KINORA_WORKERS: "0" })
      yield* downloadRanges(account.url(server))
      // Fits only if the first server has given back what it took in advance.
      const rest = yield* ask(account.url(other), size - rangesCount * range)
      assert.deepStrictEqual([rest.status, rest.bytes.length], [206, size - rangesCount * range])
      for (const one of [server, other]) {
        const refused = yield* ask(account.url(one), 1)
        assert.deepStrictEqual([refused.status, Client.errorCodeOf(refused)], [429, "download_limited"])
        assert.strictEqual(yield* used(one), size)
      }
    }))

  it.live("give the bytes back when they stop", () =>
    Effect.gen(function*() {
      const { account, environment, server, used } = yield* serveLarge(settings)
      yield* downloadRanges(account.url(server))
      yield* server.stop
      const heir = yield* Program.startServer({ ...environment, KINORA_WORKERS: "0" })
      assert.strictEqual(yield* used(heir), rangesCount * range)
    }))

  it.live("leave at most one block counted when they are killed", () =>
    Effect.gen(function*() {
      const { account, environment, server, used } = yield* serveLarge(settings)
      yield* downloadRanges(account.url(server))
      yield* server.kill
      const heir = yield* Program.startServer({ ...environment, KINORA_WORKERS: "0" })
      const counted = yield* used(heir)
      assert.isAtLeast(counted, rangesCount * range)
      assert.isAtMost(counted, rangesCount * range + block)
      // The rest of the limit is granted.
      const left = Math.floor((size - counted) / mebibyte) * mebibyte
      assert.strictEqual((yield* ask(account.url(heir), left)).status, 206)
    }))
})

const ask = (url: string, bytes: number) => Client.send(url, { headers: { range: `bytes=0-${bytes - 1}` } })

const downloadRanges = (url: string) =>
  Effect.forEach(
    Array.from({ length: rangesCount }),
    () => Effect.map(ask(url, range), ({ status }) => assert.strictEqual(status, 206)),
    { concurrency: 8, discard: true }
  )
