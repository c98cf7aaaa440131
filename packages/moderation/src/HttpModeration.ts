/**
 * A moderation behind an HTTP endpoint of the operator. Requests are signed like webhooks,
 * so a receiver verifies them with `@kinora/webhook-signing`.
 */
import * as Signature from "@kinora/webhook-signing/Signature"
import { Clock, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { allowed, fields, isAllowed, Secret, Url } from "./internal/options.ts"
import { base64, encode, makePost } from "./internal/post.ts"
import {
  accepted,
  type File,
  type Input,
  Moderation,
  type Output,
  rejected,
  type Verdict,
  withFailures,
  within
} from "./Moderation.ts"
import { unavailable, unsupported } from "./ModerationError.ts"

/** Schema of the options. */
export const Options = Schema.Struct({
  ...fields,
  /** Where requests are sent. */
  url: Url,
  /** Key of the signatures. */
  secret: Secret
}).check(Schema.makeFilter(({ private: isPrivate, url }) => isAllowed(url, isPrivate), { expected: allowed }))
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Provides the moderation. */
export const layer = (options: Options): Layer.Layer<Moderation> => Layer.effect(Moderation, make(options))

/** Makes the moderation. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const bytesMax = options.file_bytes_max ?? 4 * 1024 ** 2
  const post = yield* makePost(options)
  const signer = yield* Effect.promise(() => Signature.makeSigner(Redacted.value(options.secret)))

  const ask = Effect.fnUntraced(function*(id: string, type: string, data: Schema.Json) {
    const now = yield* Clock.currentTimeMillis
    const body = encode({ id, type, created_at: DateTime.formatIso(DateTime.makeUnsafe(now)), data })
    const timestamp = Math.floor(now / 1000)
    const signature = yield* Effect.promise(() => signer.sign(timestamp, body))
    const answer = yield* post(body, { "x-service-signature": Signature.format(timestamp, [signature]) })
    return yield* Effect.mapError(decode(answer), () => unavailable("Invalid verdict"))
  })

  const checkInput = Effect.fn("Moderation.checkInput")(function*(input: Input) {
    const images = yield* Effect.forEach(input.images, (image) => Effect.flatMap(within(image, bytesMax), encoded))
    const answer = yield* ask(`${input.id}/input`, "moderation.input", { ...subjectOf(input), images })
    const { image } = answer
    if (image !== undefined && image >= images.length) return yield* Effect.fail(unavailable("Invalid verdict"))
    return verdictOf(answer, image)
  })

  const checkOutput = Effect.fn("Moderation.checkOutput")(function*({ picture, video, ...subject }: Output) {
    const isSent = video !== undefined && video.bytes <= bytesMax
    if (picture === undefined && !isSent) {
      return yield* Effect.fail(unsupported("The video is too long and has no poster"))
    }
    const data = {
      ...subjectOf(subject),
      picture: picture === undefined ? null : yield* Effect.flatMap(within(picture, bytesMax), encoded),
      video: isSent ? yield* encoded(video) : null
    }
    return verdictOf(yield* ask(`${subject.id}/output`, "moderation.output", data), undefined)
  })

  return Moderation.of(withFailures({ checkInput, checkOutput }, options.on_failure ?? "reject"))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Answer = Schema.Struct({
  verdict: Schema.Literals(["accept", "reject"]),
  reason: Schema.optionalKey(Schema.Literals(["safety", "copyright"])),
  image: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
})

const decode = Schema.decodeUnknownEffect(Answer)

const verdictOf = ({ reason = "safety", verdict }: typeof Answer.Type, image: number | undefined): Verdict =>
  verdict === "accept" ? accepted : rejected(reason, image)

const subjectOf = ({ account, id, model, prompt }: Omit<Input, "images">) => ({
  generation_id: id,
  account_id: account,
  model,
  prompt
})

const encoded = ({ mime, read }: File) => Effect.map(read, (bytes) => ({ mime, data: base64(bytes) }))
