/**
 * The port of moderations: checks the input of a job before the job is created, and its
 * result before clients can download it.
 *
 * A check has no effect that has to be undone, and can be repeated: after a crash or a
 * failure the caller makes it again. Only the verdict on which a caller acts counts.
 */
import { Context, Effect, Layer } from "effect"
import { type ModerationError, unsupported } from "./ModerationError.ts"

/** A file to check. */
export interface File {
  readonly mime: string
  /** Length in bytes. */
  readonly bytes: number
  /** Reads the file to its end. Can be read any number of times. */
  readonly read: Effect.Effect<Uint8Array, ModerationError>
}

/** An image to check. */
export interface Picture extends File {
  /** Makes or finds a copy of about 1,000 pixels on its long side. Fails with `Unsupported` if there is none. */
  readonly smaller: Effect.Effect<File, ModerationError>
}

/** The job that is checked. */
export interface Subject {
  /** Id of the job. Checks of its input and of its result have the same. */
  readonly id: string
  /** Account that requested the job. */
  readonly account: string
  readonly model: string
  readonly prompt: string
}

/** The input of a job. */
export interface Input extends Subject {
  /** Input images, in the order of the request. */
  readonly images: ReadonlyArray<Picture>
}

/** The result of a job. */
export interface Output extends Subject {
  /** The image, or the first frame of a video. Absent for a video without one. */
  readonly picture: Picture | undefined
  /** The video. Absent for an image. */
  readonly video: File | undefined
}

/** Reason of a rejection. */
export type Reason = "safety" | "copyright"

/** The content is allowed. */
export interface Accepted {
  readonly _tag: "Accepted"
}

/** The content is not allowed. */
export interface Rejected {
  readonly _tag: "Rejected"
  readonly reason: Reason
  /** Position of the rejected input image, from 0. `undefined` if the prompt or the result is rejected. */
  readonly image: number | undefined
}

/** Result of a check. */
export type Verdict = Accepted | Rejected

/** The verdict for allowed content. */
export const accepted: Verdict = { _tag: "Accepted" }

/** Creates the verdict for content that is not allowed. */
export const rejected = (reason: Reason, image?: number): Verdict => ({ _tag: "Rejected", reason, image })

/** Checks the content of jobs. */
export class Moderation extends Context.Service<Moderation, {
  /** Checks the prompt and the input images of a job. Limits its own time. */
  readonly checkInput: (input: Input) => Effect.Effect<Verdict, ModerationError>

  /** Checks the result of a job. Limits its own time. */
  readonly checkOutput: (output: Output) => Effect.Effect<Verdict, ModerationError>
}>()("@kinora/moderation/Moderation") {}

/** The moderation that accepts everything without reading it. Callers can skip what only other moderations need. */
export const none: Moderation["Service"] = {
  checkInput: () => Effect.succeed(accepted),
  checkOutput: () => Effect.succeed(accepted)
}

/** Provides `none`. */
export const layerNone: Layer.Layer<Moderation> = Layer.succeed(Moderation, none)

/**
 * Effect of a failed check. `reject`: it fails, so the caller refuses the request or
 * fails the job. `accept`: the content is accepted without a verdict, and a warning is
 * logged.
 */
export type OnFailure = "reject" | "accept"

/** Returns a moderation that applies `onFailure` to failed checks. */
export const withFailures = (moderation: Moderation["Service"], onFailure: OnFailure): Moderation["Service"] => {
  if (onFailure === "reject") return moderation
  const accept = (id: string) => (error: ModerationError) =>
    Effect.as(Effect.logWarning("Content is accepted without a moderation", id, error.message), accepted)
  return {
    checkInput: (input) => Effect.catch(moderation.checkInput(input), accept(input.id)),
    checkOutput: (output) => Effect.catch(moderation.checkOutput(output), accept(output.id))
  }
}

/** Returns the picture, or its smaller copy if it has more than `bytesMax` bytes. Fails if that is too long as well. */
export const within = (picture: Picture, bytesMax: number): Effect.Effect<File, ModerationError> =>
  picture.bytes <= bytesMax ? Effect.succeed(picture) : Effect.filterOrFail(
    picture.smaller,
    ({ bytes }) => bytes <= bytesMax,
    () => unsupported("The picture is too long")
  )
