import { type GenerationRequest, type Generator, Generators } from "@kinora/generator"
import { Effect, Option, Stream } from "effect"

/** Does one job the way a worker does, with the driver of that name. */
export const run = Effect.fn("run")(function*(driver: string, request: GenerationRequest.GenerationRequest) {
  const { get } = yield* Generators.Generators
  const generator = Option.getOrThrow(get(driver))

  // A worker stores the operation before it goes on: whoever has it can finish the job.
  const operation = yield* generator.submit(request)

  let status: Generator.Status = yield* generator.poll(operation)
  while (status._tag === "Pending") {
    yield* Effect.sleep(status.after)
    status = yield* generator.poll(operation)
  }
  if (status._tag === "Failed") return `${status.error.code}: ${status.error.message}`

  const output = yield* generator.collect(operation)
  const bytes = yield* Stream.runFold(output.body, () => 0, (total, part: Uint8Array) => total + part.length)
  return `${output.mime}, ${bytes} bytes`
}, Effect.scoped)
