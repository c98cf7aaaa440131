import { ApiError, ErrorCode, Generation } from "@kinora/http-api"
import { Console, Effect, Schema } from "effect"

const request = { plan: "credits", model: "kinora-still", params: { prompt: "a lake", resolution: "2k" } }

const program = Effect.gen(function*() {
  const { params } = yield* Schema.decodeUnknownEffect(Generation.CreateRequest)(request)
  const error = ApiError.make("queue_full", { plan: "credits", details: { waiting_max: 20 } })
  const { headers, status } = ApiError.encode(error)
  yield* Console.log(params.resolution, status, headers["retry-after"], ErrorCode.table.queue_full.message)
})

await Effect.runPromise(program)
// 2k 429 5 The queue of the account is full; retry after a job has started.
