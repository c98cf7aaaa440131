/** Jobs of one account, over HTTP. */
import { Effect, Schema } from "effect"
import { BenchmarkFailure, failingWith } from "./Benchmark.ts"
import * as HttpCallers from "./HttpCallers.ts"
import type { HttpServer } from "./HttpServer.ts"

/** Creates an account and returns the functions that create and await its jobs. */
export const make = Effect.fnUntraced(function*({ makeKeys, origin }: HttpServer) {
  const [key = ""] = yield* makeKeys(1)
  const authorization = `Bearer ${key}`
  let created = 0
  const readOf = (id: string, wait = 0): HttpCallers.Request => ({
    method: "GET",
    path: `/v1/generations/${id}?wait=${wait}`,
    headers: { authorization }
  })
  const createOf = (model: string, params: Params): HttpCallers.Request => ({
    method: "POST",
    path: "/v1/generations",
    headers: { authorization, "content-type": "application/json", "idempotency-key": `job-${created++}` },
    body: JSON.stringify({ plan: "credits", model, params })
  })
  const ask = (status: number, request: HttpCallers.Request) =>
    HttpCallers.send({ origin, connections: 1, seconds: 60, status, requests: [request] }).pipe(
      Effect.flatMap(({ bodies: [body = ""] }) => Schema.decodeEffect(Job)(body)),
      failingWith("A job could not be created or read")
    )
  return {
    /** Returns a request that reads a job. */
    readOf,
    /** Returns a request that creates a job. */
    createOf,
    get: (id: string) => ask(200, readOf(id)),
    create: (model: string, params: Params) => Effect.suspend(() => ask(201, createOf(model, params))),
    /** Returns the job once it has completed. */
    awaitEnd: (id: string) =>
      Effect.repeat(ask(200, readOf(id, 60)), {
        until: ({ status }) => status !== "queued" && status !== "processing"
      }).pipe(
        Effect.filterOrFail(
          ({ status }) => status === "completed",
          ({ status }) => new BenchmarkFailure({ what: `A job is ${status}` })
        )
      )
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Params = Readonly<Record<string, unknown>>

const Job = Schema.fromJsonString(Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  output: Schema.NullOr(Schema.Struct({ url: Schema.String }))
}))
