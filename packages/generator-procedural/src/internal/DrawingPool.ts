/**
 * Threads that draw, so that the event loop stays free.
 *
 * Threads are started when they are first needed and kept. Painting cannot be
 * stopped from within, so an interrupted drawing ends its thread; the next drawing
 * starts a new one. The same happens to a thread that dies.
 */
import { Data, Effect, Semaphore } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { Drawing } from "./picture.ts"
import type { Answer } from "./worker.ts"

/** The picture could not be painted, and never will be. */
export class NotDrawn extends Data.TaggedError("NotDrawn")<{ readonly message: string }> {}

/** The thread died while it painted. */
export class ThreadLost extends Data.TaggedError("ThreadLost")<{ readonly message: string }> {}

/** How the pool works. */
export interface DrawingPoolOptions {
  /** Pictures in work at the same time. Default: one fewer than there are cores, at least 1. */
  readonly threads?: number | undefined
  /** Memory that one thread may use for its JavaScript, in MiB. Default 512. */
  readonly memoryMax?: number | undefined
  /** The module that the threads run. Default: the painter. */
  readonly entry?: URL | undefined
}

/** Draws pictures on threads. */
export interface DrawingPool {
  /** Waits for a free thread, then draws. A drawing whose thread dies is tried once more. */
  readonly draw: (drawing: Drawing) => Effect.Effect<Uint8Array, NotDrawn | ThreadLost>
}

/** A pool whose threads end with the scope. */
export const make = Effect.fnUntraced(function*(options: DrawingPoolOptions = {}) {
  const { entry = painter, memoryMax = 512, threads = Math.max(1, availableParallelism() - 1) } = options
  const permits = yield* Semaphore.make(threads)
  const idle = new Set<Worker>()

  const start = (): Worker => {
    const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMax } })
    // An error that nobody listens to would end the process; the exit that follows is what counts.
    worker.on("error", () => undefined)
    worker.on("exit", () => idle.delete(worker))
    return worker
  }

  const take = Effect.sync(() => {
    const [worker = start()] = idle
    idle.delete(worker)
    // Only work keeps the process alive, waiting for work does not.
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

/** The painter, next to this file: TypeScript when run from source, JavaScript when built. */
const painter = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

const isHealthy = (exit: { readonly _tag: "Success" | "Failure" }): boolean => exit._tag === "Success"

const end = (worker: Worker) => Effect.promise(() => worker.terminate())

/** Sends the drawing and waits for the answer, or for the thread's end. */
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
