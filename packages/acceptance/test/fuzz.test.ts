/**
 * Requests that chance makes, after the OpenAPI document and beyond it: never a 500,
 * always the envelope, and what is refused moves no credits (D13, D30, D40 to D42).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Books from "../src/Books.ts"
import type { RawRequest } from "../src/RawHttp.ts"
import * as Fuzzing from "./fuzzing.ts"

/** Chosen once, so that a failure is the change's and not the day's. `fuzz.process.ts` looks further. */
const seed = 20_261_121

/** Statuses of requests that no handler has seen. */
const atTheDoor = new Set(["400", "401", "405", "413", "415"])

const get = (target: string, ...headers: NonNullable<RawRequest["headers"]>): RawRequest => ({
  method: "GET",
  target,
  headers
})

/** Bytes that Node takes for no request, or refuses by itself, and would answer without an envelope. */
const unreadable: ReadonlyArray<readonly [what: string, request: RawRequest, status: number]> = [
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

describe("requests by chance", { timeout: 180_000 }, () => {
  for (const [who, count] of [["clients", 2_000], ["operators", 800]] as const) {
    it.live(`are never answered with a 500, nor without the envelope, and leave sound books (${who}, D40, D42)`, () =>
      Effect.gen(function*() {
        const seen = yield* Fuzzing.run(seed, count, who)
        // Chance got past the door of everything.
        for (const { id } of Fuzzing.operations[who]) {
          const statuses = [...seen.keys()].filter((what) => what.startsWith(`${id} `)).map((what) => what.slice(-3))
          assert.isTrue(statuses.some((status) => !atTheDoor.has(status)), `${id}: ${statuses.join()}`)
        }
        assert.deepStrictEqual((yield* Books.verify).problems, [])
      }).pipe(Effect.provide(Fuzzing.host)))
  }

  it.live("are answered with the envelope also when they are no HTTP (D42)", () =>
    Effect.gen(function*() {
      const { send } = yield* Fuzzing.makeSender
      for (const [what, request, status] of unreadable) {
        const answer = yield* send({ request, operation: undefined }, what)
        assert.strictEqual(answer.status, status, what)
      }
    }).pipe(Effect.provide(Fuzzing.host)))
})
