import { KinoraClient, layer } from "@kinora/client/KinoraClient"
import { Effect, Redacted, Stream } from "effect"

/** Generates a picture and returns its size, or 0 if the job fails. */
export const sizeOfPicture = Effect.gen(function*() {
  const kinora = yield* KinoraClient
  const { stream } = yield* kinora.generate({
    plan: "credits",
    model: "kinora-still",
    params: { prompt: "a lake" }
  })
  return yield* Stream.runFold(stream, () => 0, (sum, bytes) => sum + bytes.length)
}).pipe(
  Effect.catchTag("GenerationError", ({ code }) => Effect.as(Effect.logWarning("No picture", code), 0))
)

/** The client of an account. */
export const connected = (apiKey: string) => layer({ apiKey: Redacted.make(apiKey), baseUrl: "http://127.0.0.1:4747" })
