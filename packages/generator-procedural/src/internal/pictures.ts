/** The pictures and videos of a process that are drawn, or finished and not collected yet. */
import { GeneratorError } from "@kinora/generator"
import { Deferred, Duration, Effect, FiberMap } from "effect"
import type { DrawingPool, Drawn } from "./DrawingPool.ts"
import type { Drawable } from "./drawings.ts"

/** A picture or video that is drawn or finished. */
export interface Picture {
  readonly drawn: Deferred.Deferred<Drawn, GeneratorError.Permanent>
  /** Returns the progress from 0 to 1, or `undefined` if it is unknown. */
  readonly progress: () => number | undefined
}

/** Limits of `makePictures`. */
export interface PicturesOptions {
  /** Maximum number of pictures that are drawn or wait for a thread. Default 64. */
  readonly queueMax?: number | undefined
  /** Maximum number of finished pictures that wait to be collected. Default 16. */
  readonly finishedMax?: number | undefined
}

/** Creates the pictures and videos of this process, by the id of their request. */
export const makePictures = Effect.fnUntraced(function*(
  pool: DrawingPool,
  { finishedMax = 16, queueMax = 64 }: PicturesOptions
) {
  const fibers = yield* FiberMap.make<string>()
  const known = new Map<string, Picture>()

  /** Drops the oldest finished pictures that were not collected. */
  const dropFinished = () => {
    const finished = [...known].filter(([, picture]) => Deferred.isDoneUnsafe(picture.drawn))
    for (const [id] of finished.slice(0, Math.max(0, finished.length - finishedMax))) known.delete(id)
  }

  /** Fails with `Transient` if the queue has no room for a new picture. */
  const checkRoom = (id: string) =>
    Effect.flatMap(
      FiberMap.size(fibers),
      (size) => size >= queueMax && !known.has(id) ? Effect.fail(busy) : Effect.void
    )

  /** Returns the picture of an operation. Starts drawing it if this process does not have it. */
  const begin = Effect.fnUntraced(function*(operation: Drawable, references: ReadonlyArray<string>) {
    const found = known.get(operation.id)
    if (found !== undefined) return found
    if (references.length < operation.references) return yield* lost
    yield* checkRoom(operation.id)
    let progress: number | undefined
    const picture: Picture = { drawn: Deferred.makeUnsafe(), progress: () => progress }
    known.set(operation.id, picture)
    dropFinished()
    const drawing = drawn(pool, operation, references, (reported) => void (progress = reported))
    yield* FiberMap.run(fibers, operation.id, Deferred.into(drawing, picture.drawn))
    return picture
  }, Effect.uninterruptible)

  const drop = (id: string, picture: Picture) =>
    Effect.sync(() => {
      if (known.get(id) === picture) known.delete(id)
    })

  const cancel = Effect.fnUntraced(function*(id: string) {
    const picture = known.get(id)
    if (picture === undefined) return
    yield* Deferred.fail(picture.drawn, cancelled)
    yield* drop(id, picture)
    yield* FiberMap.remove(fibers, id)
  })

  return { begin, cancel, checkRoom, drop }
})

const failure = (message: string) =>
  new GeneratorError.Permanent({ code: "generation_failed", reason: "internal", message })

/** The failure of an operation of another driver. */
export const foreign = failure("The generation is unknown.")

/** The failure of a drawing whose cause is not shown to the client. */
export const unfinished = failure("The picture could not be finished.")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const busy = new GeneratorError.GeneratorError({
  reason: new GeneratorError.Transient({ retryAfter: Duration.seconds(1) })
})

const lost = new GeneratorError.GeneratorError({ reason: new GeneratorError.Lost() })

const cancelled = failure("The generation was cancelled.")

/** Draws a picture. Logs a failure, and does not show its cause to the client. */
const drawn = (
  pool: DrawingPool,
  { format, height, key, prompt, seconds, width }: Drawable,
  references: ReadonlyArray<string>,
  report: (progress: number) => void
) =>
  pool.draw({ prompt, key, width, height, format, seconds, references }, report).pipe(
    Effect.tapError((error) => Effect.logError("Drawing a picture failed", error)),
    Effect.mapError(() => unfinished),
    Effect.withSpan("ProceduralGenerator.draw", { attributes: { width, height, format, seconds } })
  )
