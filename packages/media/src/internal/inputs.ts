/** Decodes the images of senders, apart from those of the service itself. */
import { Effect } from "effect"
import type { MediaError } from "../MediaError.ts"
import * as Turns from "../Turns.ts"
import * as Bounded from "./Bounded.ts"
import * as Decoder from "./decoder/Decoder.ts"
import type { Made } from "./decoder/work.ts"

/** Options for `make`. `MediaOptions` documents them. */
export interface InputOptions {
  readonly inputConcurrency: number
  readonly nodePath: string
}

/** Size of an image, in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

/**
 * Makes the function that decodes an input of this size when it is the turn of its owner. A large one is decoded in another process: its
 * threads have a priority of their own, and its memory is not that of this process.
 */
export const make = Effect.fnUntraced(function*({ inputConcurrency, nodePath }: InputOptions) {
  const turns = Turns.make({ max: inputConcurrency })
  const runSmall = yield* Bounded.make(turns)
  // A large image waits for its turn here, without a place among all inputs: the other places remain for smaller ones.
  const largeTurns = Turns.make({ max: Math.ceil(inputConcurrency / 2) })
  const runLarge = yield* Bounded.make((owner) => (work) => largeTurns(owner)(turns(owner)(work)))
  const decodeApart = yield* Decoder.makeApart(nodePath)

  return (
    { height, width }: Size,
    owner: string | undefined,
    ...decoded: Parameters<Decoder.Decode>
  ): Effect.Effect<Made, MediaError> =>
    width * height > largePixels
      ? runLarge(decodeApart(...decoded), owner)
      : runSmall(Decoder.decode(...decoded), owner)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of pixels above which an input is large: more than those of most photos. */
const largePixels = 16_000_000
