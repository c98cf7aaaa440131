/** A publisher that orders the covers of its books. */
import { GenerationError, type Kinora } from "@kinora/client"

/** A cover, or why there is none. */
export type Cover = { readonly picture: Uint8Array } | { readonly reason: string }

/**
 * Orders the cover of a book and waits for it. The number of the book is the idempotency key, so a book that is ordered
 * again, for example after a crash, is paid for once.
 */
export const orderCover = async (kinora: Kinora, book: number, title: string): Promise<Cover> => {
  try {
    const { bytes } = await kinora.generate(
      { plan: "credits", model: "kinora-still", params: { prompt: `the cover of "${title}"` } },
      { idempotencyKey: `cover-${book}` }
    )
    return { picture: await bytes() }
  } catch (error) {
    // The job was refunded.
    if (error instanceof GenerationError) return { reason: error.message }
    throw error
  }
}
