/** Images whose steps the test orders, since libvips works on several threads, which end in any order. */
import { vi } from "@effect/vitest"
import { Effect, type Fiber, type Scope } from "effect"
import sharp, { type Sharp } from "sharp"

/** A decode that waits for the test. */
interface HeldDecode {
  /** Waits until the decode would begin. */
  readonly isReached: Effect.Effect<void>
  /** Begins it. */
  readonly release: Effect.Effect<void>
}

/** The steps of images. */
export interface HeldSharp {
  /** Holds the next image that is decoded. Those after it are decoded. */
  readonly holdDecode: Effect.Effect<HeldDecode>
  /** Starts work on an image, and waits until its header is read. Then the work has its place in the order of turns. */
  readonly readHeaderOf: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<Fiber.Fiber<A, E>, never, Scope.Scope>
}

/** Observes the images of this process until the scope closes, which releases all decodes. */
export const make: Effect.Effect<HeldSharp, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const prototype: Sharp = Object.getPrototypeOf(sharp())
      return {
        ended: Promise.withResolvers<void>(),
        toBuffer: vi.spyOn(prototype, "toBuffer"),
        metadata: vi.spyOn(prototype, "metadata")
      }
    }),
    ({ ended, metadata, toBuffer }) =>
      Effect.sync(() => {
        ended.resolve()
        toBuffer.mockRestore()
        metadata.mockRestore()
      })
  ),
  ({ ended, metadata, toBuffer }) => ({
    holdDecode: Effect.sync(() => {
      const reached = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      toBuffer.mockImplementationOnce(async function(this: Sharp, options) {
        reached.resolve()
        await Promise.race([released.promise, ended.promise])
        // This implementation serves one call.
        return await this.toBuffer(options)
      })
      return { isReached: Effect.promise(() => reached.promise), release: Effect.sync(released.resolve) }
    }),
    readHeaderOf: (work) =>
      Effect.gen(function*() {
        const read = Promise.withResolvers<void>()
        metadata.mockImplementationOnce(function(this: Sharp) {
          const header = this.metadata()
          // Before the work continues, and whatever the header is.
          void header.then(() => read.resolve(), () => read.resolve())
          return header
        })
        const fiber = yield* Effect.forkScoped(work, { startImmediately: true })
        yield* Effect.promise(() => read.promise)
        return fiber
      })
  })
)
