/**
 * Random requests derived from the OpenAPI document, valid and invalid: no response is a 500, every error has the
 * documented body, and rejected requests charge nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Books from "../src/Books.ts"
import type { BytesRequest } from "../src/RawHttp.ts"
import * as FuzzedRequests from "./fuzzedHost.ts"

/** Fixed, so that a failure is caused by a change. `fuzz.process.ts` uses other seeds. */
const seed = 20_261_121

/** Statuses of requests that no handler received. */
const atTheDoor = new Set(["400", "401", "405", "413", "415"])

const get = (target: string, ...headers: NonNullable<BytesRequest["headers"]>): BytesRequest => ({
  method: "GET",
  target,
  headers
})

/** Bytes that Node rejects before any route, without the service's error body. */
const unreadable: ReadonlyArray<readonly [what: string, request: BytesRequest, status: number]> = [
  ["a control in a header", get("/v1/models", ["x-null", "a\0b"]), 400],
  ["a header without a name", get("/v1/models", ["", "x"]), 400],
  ["a space in a header's name", get("/v1/models", ["a b", "x"]), 400],
  ["a head that is too large", get("/v1/models", ["x-large", "y".repeat(30_000)]), 400],
  ["a path that is too long", get(`/v1/models/${"x".repeat(40_000)}`), 400],
  ["a space in the path", get("/v1/a b"), 400],
  ["a method that is none", { method: "get", target: "/v1/models" }, 400],
  ["no method", { method: "", target: "/v1/models" }, 400],
  ["a length below zero", get("/v1/models", ["content-length", "-1"]), 400],
  ["an expectation that nobody knows", get("/v1/models", ["expect", "the unexpected"]), 401]
]

describe("random requests", { timeout: 600_000 }, () => {
  for (const [who, count] of [["clients", 2_000], ["operators", 1_500]] as const) {
    it.live(`cause no 500 and no discrepancy, and every error has the documented body (${who})`, () =>
      Effect.gen(function*() {
        const seen = yield* FuzzedRequests.run(seed, count, who)
        // Every operation accepted some requests.
        for (const { id } of FuzzedRequests.operations[who]) {
          const statuses = [...seen.keys()].filter((what) => what.startsWith(`${id} `)).map((what) => what.slice(-3))
          assert.isTrue(statuses.some((status) => !atTheDoor.has(status)), `${id}: ${statuses.join()}`)
        }
        assert.deepStrictEqual((yield* Books.verify).problems, [])
      }).pipe(Effect.provide(FuzzedRequests.host)))
  }

  it.live("return the documented error body also if they are not HTTP", () =>
    Effect.gen(function*() {
      const { send } = yield* FuzzedRequests.makeSender
      for (const [what, request, status] of unreadable) {
        const answer = yield* send({ request, operation: undefined }, what)
        assert.strictEqual(answer.status, status, what)
      }
    }).pipe(Effect.provide(FuzzedRequests.host)))
})
