/**
 * Worker threads that draw, so that the event loop is not blocked.
 *
 * Threads start on demand and are reused. A drawing cannot be interrupted inside its
 * thread, so an interrupted drawing terminates the thread, and the next drawing starts a
 * new one. A thread that dies is replaced the same way.
 */
import { Data, Effect, Semaphore } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { Drawing } from "./picture.ts"
import type { Answer } from "./worker.ts"

/** Drawing the picture failed permanently. */
export class NotDrawn extends Data.TaggedError("NotDrawn")<{ readonly message: string }> {}

/** The thread died while it drew. */
export class ThreadLost extends Data.TaggedError("ThreadLost")<{ readonly message: string }> {}

/** Options for `make`. */
export interface DrawingPoolOptions {
  /** Maximum number of pictures that are drawn at the same time. Default: the number of cores minus 1, at least 1. */
  readonly threads?: number | undefined
  /** Maximum JavaScript heap of a thread, in MiB. Default 512. */
  readonly memoryMax?: number | undefined
  /** Module that the threads run. Default: `worker.ts`. */
  readonly entry?: URL | undefined
}

/** Draws pictures on worker threads. */
export interface DrawingPool {
  /** Draws on a free thread, and waits for one if necessary. Repeats a drawing once if its thread dies. */
  readonly draw: (drawing: Drawing) => Effect.Effect<Uint8Array, NotDrawn | ThreadLost>
}

/** Creates a pool whose threads end with the scope. */
export const make = Effect.fnUntraced(function*(options: DrawingPoolOptions = {}) {
  const { entry = painter, memoryMax = 512, threads = Math.max(1, availableParallelism() - 1) } = options
  const permits = yield* Semaphore.make(threads)
  const idle = new Set<Worker>()

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

  const drawOnce = (drawing: Drawing) =>
    permits.withPermits(1)(
      Effect.acquireUseRelease(
        take,
        (worker) => ask(worker, drawing),
        (worker, exit) => isHealthy(exit) ? giveBack(worker) : end(worker)
      )
    )

  yield* Effect.addFinalizer(() => Effect.forEach([...idle], end, { concurrency: "unbounded", discard: true }))

  const pool: DrawingPool = {
    draw: (drawing) =>
      drawOnce(drawing).pipe(
        Effect.flatMap((answer) =>
          answer._tag === "Drawn"
            ? Effect.succeed(answer.bytes)
            : Effect.fail(new NotDrawn({ message: answer.message }))
        ),
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

const isHealthy = (exit: { readonly _tag: "Success" | "Failure" }): boolean => exit._tag === "Success"

const end = (worker: Worker) => Effect.promise(() => worker.terminate())

/** Sends the drawing, and waits for the answer or the end of the thread. */
const ask = (worker: Worker, drawing: Drawing) =>
  Effect.callback<Answer, ThreadLost>((resume) => {
    const stop = () => {
      worker.off("message", onMessage)
      worker.off("error", onError)
      worker.off("exit", onExit)
    }
    const onMessage = (answer: Answer) => {
      stop()
      resume(Effect.succeed(answer))
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
    worker.postMessage(drawing, [])
    return Effect.sync(stop)
  })
