/** Statements and round trips of single downloads, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { Generation } from "@kinora/http-api"
import { RateLimitStore } from "@kinora/rate-limit"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Schema } from "effect"
import * as Host from "./Host.ts"

/** Each statement runs without a transaction, so that no lock waits for a client that reads a file slowly. */
const withoutUnit = { writesAfterLock: 0, writesAfterRead: 0 }

/** A place, the bytes of the day, the limit in the headers or that of the key, and the end of the place. The job was read before. */
const bounds = {
  withLink: { ...withoutUnit, statements: 4, roundTrips: 4 },
  withKey: { ...withoutUnit, statements: 4, roundTrips: 4 },
  notModified: { ...withoutUnit, statements: 1, roundTrips: 1 }
}

it.live("downloads send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.make
    const costs = yield* Effect.gen(function*() {
      const send = yield* Host.start()
      const { held } = yield* RateLimitStore.RateLimitStore
      const { account, key } = yield* Host.openAccount()
      const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
      yield* send("POST", "/v1/generations", { key, body })
      const { id } = yield* Host.newest(account)
      yield* Host.complete(id, new Uint8Array(100_000))
      const { json } = yield* send("GET", `/v1/generations/${id}`, { key })
      const link = new URL(Schema.decodeUnknownSync(Generation.Generation)(json).output?.url ?? "")

      /** Counts the costs of a request until its place is free and kept no longer, without the statements that look for it. */
      const downloadOf = Effect.fnUntraced(function*(
        kind: "links" | "streams",
        path: string,
        sent: Host.Sent,
        status: number
      ) {
        let looks = 0
        const cost = yield* costOf(Effect.gen(function*() {
          assert.strictEqual((yield* send("GET", path, sent)).status, status)
          do looks++
          while ((yield* held(`${kind}:${account.id}`)) > 0)
        }))
        return { ...cost, statements: cost.statements - looks, roundTrips: cost.roundTrips - looks }
      })

      const sumOf = ({ roundTrips, statements }: RoundTrips.Cost) => statements + roundTrips
      /** The process keeps what it has read for a second, which may end before a request. */
      const least = <E, R>(download: Effect.Effect<RoundTrips.Cost, E, R>) =>
        Effect.map(
          Effect.replicateEffect(download, 5),
          (all) => all.reduce((least, cost) => sumOf(cost) < sumOf(least) ? cost : least)
        )

      const headers = { range: "bytes=10-50009" }
      const withLink = downloadOf("links", `${link.pathname}${link.search}`, { headers }, 206)
      // The first request also reads whether the account is suspended.
      yield* withLink
      return {
        withLink: yield* least(withLink),
        withKey: yield* least(downloadOf("streams", link.pathname, { key, headers }, 206)),
        notModified: yield* least(
          downloadOf("streams", link.pathname, { key, headers: { "if-none-match": "*" } }, 304)
        )
      }
    }).pipe(Effect.scoped, Effect.provide(Host.layerSql(database)))
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))
