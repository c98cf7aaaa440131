/** Content to check. */
import { Effect } from "effect"
import type * as Moderation from "../src/Moderation.ts"
import { unavailable } from "../src/ModerationError.ts"

/** A file with this text. */
export const file = (mime: string, text: string): Moderation.File => {
  const bytes = new TextEncoder().encode(text)
  return { mime, bytes: bytes.length, read: Effect.succeed(bytes) }
}

/** An image with this text, whose smaller copy has the text `small`. */
export const picture = (text: string, smaller = file("image/webp", "small")): Moderation.Picture => ({
  ...file("image/png", text),
  smaller: Effect.succeed(smaller)
})

const subject = { id: "gen_1", account: "acct_1", model: "kinora-still", prompt: "a lake" }

/** The input of a job with these images. */
export const input = (...images: ReadonlyArray<Moderation.Picture>): Moderation.Input => ({ ...subject, images })

/** The result of a job. */
export const output = (
  picture: Moderation.Picture | undefined,
  video?: Moderation.File
): Moderation.Output => ({ ...subject, picture, video })

/** A file that cannot be read. */
export const unreadable: Moderation.Picture = { ...picture("x"), read: Effect.fail(unavailable("No such file")) }
