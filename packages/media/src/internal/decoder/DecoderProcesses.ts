/**
 * Processes that decode images, one at a time each. They have the lowest priority and no environment.
 *
 * A process starts on demand and is used again, since starting one copies the page tables of this process, which blocks its event
 * loop for some milliseconds per 100 MiB. It ends when it had nothing to do for a minute, with the scope, and when it fails.
 */
import { Data, Duration, Effect, Schema, type Scope } from "effect"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { constants } from "node:os"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { putLast } from "../processPriority.ts"
import * as Frames from "./frames.ts"
import { Answer, type Order } from "./order.ts"

/** The response of a process, and the bytes of the result if it made one. */
interface Answered {
  readonly answer: Answer
  readonly data: Uint8Array
}

/** The process could not be started, ended without a response, or took too long. */
class ProcessFailed extends Data.TaggedError("ProcessFailed")<{ readonly cause: unknown }> {}

/** Decodes an image in a process. Starts as many processes as there are images at the same time. */
export type Decode = (bytes: Uint8Array, order: Order) => Effect.Effect<Answered, ProcessFailed>

/** Makes the function. `program` is the path of Node. */
export const make = Effect.fnUntraced(function*(program: string): Effect.fn.Return<Decode, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const idle = new Set<Decoder>()
  yield* Effect.addFinalizer(() => Effect.sync(() => idle.forEach(end)))

  const take = Effect.sync(() => {
    const [known] = idle
    const decoder = known ?? start(program)
    idle.delete(decoder)
    // A process that was killed without work is not used again.
    if (known === undefined) decoder.child.once("exit", () => idle.delete(decoder))
    return decoder
  })

  /** Keeps a process for the next image, for a while. */
  const keep = (decoder: Decoder) =>
    Effect.suspend(() => {
      idle.add(decoder)
      const use = ++decoder.uses
      const endUnused = Effect.sync(() => {
        if (decoder.uses === use && idle.delete(decoder)) end(decoder)
      })
      return Effect.forkIn(Effect.andThen(Effect.sleep(idleMax), endUnused), scope)
    })

  return (bytes, order) =>
    Effect.acquireUseRelease(
      take,
      (decoder) => ask(decoder, bytes, order),
      (decoder, exit) => exit._tag === "Success" ? keep(decoder) : Effect.sync(() => end(decoder))
    )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A process. */
interface Decoder {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly answers: AsyncGenerator<Frames.Frame, undefined>
  /** Rejects when the process ends. */
  readonly ended: Promise<never>
  uses: number
}

const module = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./decode.process.ts" : "./decode.process.js", import.meta.url)
)

/**
 * The environment of a process: with these, glibc returns to the system what an image needed. That of this process can contain
 * secrets.
 */
const environment = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_ARENA_MAX: "1" }

/** Time after which a process without work ends. */
const idleMax = Duration.minutes(1)

/** Time for the start of a process, and for passing the file and the result. */
const startSecondsMax = 10

/** Maximum length of a result. */
const resultBytesMax = 1024 ** 3

/** Maximum length of the messages of a process that are logged. */
const complaintMax = 2000

const start = (program: string): Decoder => {
  const child = spawn(program, ["--expose-gc", module], { stdio: ["pipe", "pipe", "pipe"], env: environment })
  // Requests and other images come first.
  putLast(child.pid, constants.priority.PRIORITY_LOW)
  // If the process does not read, it ends with an error that has the reason.
  child.stdin.on("error", () => undefined)
  let complaint = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-complaintMax)
  })
  const ended = once(child, "close").then(([code, signal]) => {
    throw new Error(`The decoder ended with ${code ?? signal}: ${complaint}`)
  })
  // It may end while no request waits for its response.
  ended.catch(() => undefined)
  return { child, ended, answers: Frames.read(child.stdout, resultBytesMax), uses: 0 }
}

const end = ({ child }: Decoder): void => {
  child.kill("SIGKILL")
}

const decodeAnswer = Schema.decodeUnknownPromise(Answer)

const ask = ({ answers, child, ended }: Decoder, bytes: Uint8Array, order: Order) => {
  const secondsMax = order.limits.secondsMax + startSecondsMax
  return Effect.tryPromise({
    try: async () => {
      Frames.write(child.stdin, { message: order, data: bytes })
      const { value } = await Promise.race([answers.next(), ended])
      // The pipe ends before the process.
      if (value === undefined) return await ended
      return { answer: await decodeAnswer(value.message), data: value.data }
    },
    catch: (cause) => new ProcessFailed({ cause })
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.seconds(secondsMax),
      orElse: () => Effect.fail(new ProcessFailed({ cause: new Error(`No response within ${secondsMax} seconds`) }))
    })
  )
}
