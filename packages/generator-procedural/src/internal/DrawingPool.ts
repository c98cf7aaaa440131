/**
 * Worker threads that draw, so that the event loop is not blocked.
 *
 * Threads start on demand and are reused. A drawing cannot be interrupted inside its
 * thread, so an interrupted drawing terminates the thread, and the next drawing starts a
 * new one. A thread that dies is replaced the same way.
 */
import { Data, Effect, Semaphore } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import type { Drawing } from "./picture.ts"
import type { Answer, Order } from "./worker.ts"

/** A finished picture or video. */
export interface Drawn {
  /** The file. */
  readonly bytes: Uint8Array
  /** The first frame of a video as a WebP file, `null` for a picture. */
  readonly poster: Uint8Array | null
}

/** Drawing the picture failed permanently. */
export class NotDrawn extends Data.TaggedError("NotDrawn")<{ readonly message: string }> {}

/** The thread died while it drew. */
export class ThreadLost extends Data.TaggedError("ThreadLost")<{ readonly message: string }> {}

/** Options for `make`. */
export interface DrawingPoolOptions {
  /** Maximum number of drawings at the same time. Default: the number of cores minus 1, at least 1. */
  readonly threads?: number | undefined
  /** Maximum JavaScript heap of a thread, in MiB. Default 512. */
  readonly memoryMax?: number | undefined
  /** Module that the threads run. Default: `worker.ts`. */
  readonly entry?: URL | undefined
  /**
   * Returns the path or name of the program `ffmpeg`, which encodes the videos, or `undefined`
   * if they are encoded in WebAssembly. Evaluated for each video. Default: `undefined`.
   */
  readonly ffmpeg?: Effect.Effect<string | undefined> | undefined
}

/** Draws pictures and videos on worker threads. */
export interface DrawingPool {
  /**
   * Draws on a free thread, and waits for one if necessary. Repeats a drawing once if its
   * thread dies. Calls `report` with the progress of a video, from 0 to 1.
   */
  readonly draw: (
    drawing: Drawing,
    report?: (progress: number) => void
  ) => Effect.Effect<Drawn, NotDrawn | ThreadLost>
}

/** Creates a pool whose threads end with the scope. */
export const make = Effect.fnUntraced(function*(options: DrawingPoolOptions = {}) {
  const { entry = painter, memoryMax = 512, threads = Math.max(1, availableParallelism() - 1) } = options
  const permits = yield* Semaphore.make(threads)
  const idle = new Set<Worker>()
  const filed = withFile(options.ffmpeg ?? Effect.succeed(undefined))

  const start = (): Worker => {
    const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMax } })
    // An `error` event without a listener would end the process. The `exit` event that follows is handled.
    worker.on("error", () => undefined)
    worker.on("exit", () => idle.delete(worker))
    return worker
  }

  const take = Effect.sync(() => {
    const [worker = start()] = idle
    idle.delete(worker)
    // A busy thread keeps the process alive, an idle one does not.
    worker.ref()
    return worker
  })

  const giveBack = (worker: Worker) =>
    Effect.sync(() => {
      worker.unref()
      idle.add(worker)
    })

  const drawOnce = (drawing: Drawing, report: (progress: number) => void) =>
    permits.withPermits(1)(
      filed(drawing, (order) =>
        Effect.acquireUseRelease(
          take,
          (worker) => ask(worker, order, report),
          (worker, exit) => isHealthy(exit) ? giveBack(worker) : end(worker)
        ))
    )

  yield* Effect.addFinalizer(() => Effect.forEach([...idle], end, { concurrency: "unbounded", discard: true }))

  const pool: DrawingPool = {
    draw: (drawing, report = () => undefined) =>
      drawOnce(drawing, report).pipe(
        Effect.retry({ times: 1, while: (error) => error._tag === "ThreadLost" })
      )
  }
  return pool
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The module of the threads, next to this file: TypeScript when run from source, JavaScript when built. */
const painter = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

// A thread that failed may still hold the memory of an encoder.
const isHealthy = (exit: { readonly _tag: "Success" | "Failure" }): boolean => exit._tag === "Success"

/**
 * Gives a video the file that `ffmpeg` writes, and removes it afterwards, also if the thread
 * ended. Each video has a directory, so that `@kinora/media` finds those of killed processes by their age.
 */
const withFile =
  (ffmpeg: Effect.Effect<string | undefined>) =>
  <A, E>(drawing: Drawing, use: (order: Order) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(drawing.seconds === null ? Effect.succeed(undefined) : ffmpeg, (program) =>
      program === undefined
        ? use({ ...drawing, ffmpeg: null })
        : Effect.acquireUseRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-clip-"))),
          (folder) => use({ ...drawing, ffmpeg: { program, file: join(folder, "clip.mp4") } }),
          (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
        ))

const end = (worker: Worker) => Effect.promise(() => worker.terminate())

/** Sends the order, and waits for the response or the end of the thread. */
const ask = (worker: Worker, order: Order, report: (progress: number) => void) =>
  Effect.callback<Drawn, NotDrawn | ThreadLost>((resume) => {
    const stop = () => {
      worker.off("message", onMessage)
      worker.off("error", onError)
      worker.off("exit", onExit)
    }
    const onMessage = (answer: Answer) => {
      if (answer._tag === "Drawing") {
        report(answer.progress)
        return
      }
      stop()
      resume(
        answer._tag === "Drawn"
          ? Effect.succeed({ bytes: answer.bytes, poster: answer.poster })
          : Effect.fail(new NotDrawn({ message: answer.message }))
      )
    }
    const lost = (message: string) => {
      stop()
      resume(Effect.fail(new ThreadLost({ message })))
    }
    const onError = (error: Error) => lost(error.message)
    const onExit = (code: number) => lost(`The thread ended with code ${code}`)
    worker.on("message", onMessage)
    worker.on("error", onError)
    worker.on("exit", onExit)
    worker.postMessage(order, [])
    return Effect.sync(stop)
  })
