/**
 * Moderation by the moderations API of OpenAI, and by servers with the same API. The
 * prompt and each image are a request each, since the API accepts one image per request
 * and does not return which one it flagged.
 */
import { Effect, Layer, Redacted, Schema } from "effect"
import { allowed, fields, isAllowed, Secret, Url } from "./internal/options.ts"
import { base64, encode, makePost } from "./internal/post.ts"
import {
  accepted,
  type Input,
  Moderation,
  type Output,
  type Picture,
  rejected,
  withFailures,
  within
} from "./Moderation.ts"
import { unavailable, unsupported } from "./ModerationError.ts"

/** Schema of the options. */
export const Options = Schema.Struct({
  ...fields,
  api_key: Secret,
  /** Address of the API, without `/moderations`. Default `https://api.openai.com/v1`. */
  base_url: Schema.optionalKey(Url),
  /** Model that checks. Default `omni-moderation-latest`. */
  model: Schema.optionalKey(Schema.NonEmptyString)
}).check(Schema.makeFilter(
  ({ base_url = baseUrl, private: isPrivate }) => isAllowed(base_url, isPrivate),
  { expected: allowed }
))
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Provides the moderation. */
export const layer = (options: Options): Layer.Layer<Moderation> => Layer.effect(Moderation, make(options))

/** Makes the moderation. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { base_url = baseUrl, file_bytes_max: bytesMax = 4 * 1024 ** 2, model = "omni-moderation-latest" } = options
  const post = yield* makePost({ ...options, url: `${base_url.replace(/\/$/, "")}/moderations` })

  const isFlagged = Effect.fnUntraced(function*(part: Schema.Json) {
    const body = encode({ model, input: [part] })
    const answer = yield* post(body, { authorization: `Bearer ${Redacted.value(options.api_key)}` })
    const { results } = yield* Effect.mapError(decode(answer), () => unavailable("Invalid verdict"))
    return results.some(({ flagged }) => flagged)
  })

  const isPictureFlagged = Effect.fnUntraced(function*(picture: Picture) {
    const { mime, read } = yield* within(picture, bytesMax)
    const url = `data:${mime};base64,${base64(yield* read)}`
    return yield* isFlagged({ type: "image_url", image_url: { url } })
  })

  const checkInput = Effect.fn("Moderation.checkInput")(function*({ images, prompt }: Input) {
    if (prompt.trim() !== "" && (yield* isFlagged({ type: "text", text: prompt }))) return rejected("safety")
    const flagged = yield* Effect.forEach(images, isPictureFlagged, { concurrency: imagesAtOnce })
    const image = flagged.indexOf(true)
    return image === -1 ? accepted : rejected("safety", image)
  })

  const checkOutput = Effect.fn("Moderation.checkOutput")(function*({ picture }: Output) {
    if (picture === undefined) return yield* Effect.fail(unsupported("The video has no poster"))
    return (yield* isPictureFlagged(picture)) ? rejected("safety") : accepted
  })

  return Moderation.of(withFailures({ checkInput, checkOutput }, options.on_failure ?? "reject"))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const baseUrl = "https://api.openai.com/v1"

/** Requests for the images of one job at the same time. Each holds an image. */
const imagesAtOnce = 2

const decode = Schema.decodeUnknownEffect(Schema.Struct({
  results: Schema.NonEmptyArray(Schema.Struct({ flagged: Schema.Boolean }))
}))
