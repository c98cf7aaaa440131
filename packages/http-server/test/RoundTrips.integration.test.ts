/** Statements of single downloads, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { Generation } from "@kinora/http-api"
import { RateLimitStore } from "@kinora/rate-limit"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Schema } from "effect"
import * as Host from "./Host.ts"

/** A place, the bytes of the day, the limit in the headers or that of the key, and the end of the place. The job was read before. */
const bounds = { withLink: 4, withKey: 4, notModified: 1 }

it.live("downloads send no more statements than these", () =>
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

      /** Counts the statements of a request until its place is free and kept no longer, without those that look for it. */
      const statementsOf = Effect.fnUntraced(function*(
        kind: "links" | "streams",
        path: string,
        sent: Host.Sent,
        status: number
      ) {
        let looks = 0
        const { statements } = yield* costOf(Effect.gen(function*() {
          assert.strictEqual((yield* send("GET", path, sent)).status, status)
          do looks++
          while ((yield* held(`${kind}:${account.id}`)) > 0)
        }))
        return statements - looks
      })

      /** The process keeps what it has read for a second, which may end before a request. */
      const least = <E, R>(statements: Effect.Effect<number, E, R>) =>
        Effect.map(Effect.replicateEffect(statements, 5), (all) => Math.min(...all))

      const headers = { range: "bytes=10-50009" }
      const withLink = statementsOf("links", `${link.pathname}${link.search}`, { headers }, 206)
      // The first request also reads whether the account is suspended.
      yield* withLink
      return {
        withLink: yield* least(withLink),
        withKey: yield* least(statementsOf("streams", link.pathname, { key, headers }, 206)),
        notModified: yield* least(
          statementsOf("streams", link.pathname, { key, headers: { "if-none-match": "*" } }, 304)
        )
      }
    }).pipe(Effect.scoped, Effect.provide(Host.layerSql(database)))
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))
