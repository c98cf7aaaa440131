/** The processes of a group, with `node:cluster`: they accept the connections of one listener. */
import { Deferred, Effect } from "effect"
import cluster, { type Worker } from "node:cluster"
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import type { End, Member, Ready, ReadyMember } from "./processGroup.ts"

/** Starts this program again as the process with this index. */
export const fork = (index: number): Effect.Effect<Member> =>
  Effect.gen(function*() {
    const ready = yield* Deferred.make<ReadyMember>()
    const ended = yield* Deferred.make<End>()
    const worker = yield* Effect.sync(() => {
      // The program may have replaced its arguments since `node:cluster` was loaded.
      cluster.setupPrimary({
        exec: process.argv[1],
        args: process.argv.slice(2),
        execArgv: process.sourceMapsEnabled ? [...process.execArgv, "--enable-source-maps"] : process.execArgv
      })
      return cluster.fork({ [variable]: String(index), ...compileCache() })
    })
    const end = (code: number | null, signal: string | null) =>
      Deferred.doneUnsafe(ended, Effect.succeed({ code, signal }))
    worker.on("message", (message: unknown) => {
      if (isReady(message)) Deferred.doneUnsafe(ready, Effect.succeed(message.ready))
    })
    worker.on("exit", end)
    // The process could not be started.
    worker.on("error", () => {
      if (worker.process.pid === undefined) end(null, null)
    })
    return {
      ready: Deferred.await(ready),
      ended: Deferred.await(ended),
      kill: (signal) => Effect.sync(() => killIfRunning(worker, signal))
    }
  })

/** Returns the index of this process in its group, and its environment without it. `undefined` if it is in none. */
export const memberOf = (
  environment: NodeJS.ProcessEnv
): { readonly index: number | undefined; readonly environment: NodeJS.ProcessEnv } => {
  const { [variable]: index, ...others } = environment
  return { index: cluster.isWorker && index !== undefined ? Number(index) : undefined, environment: others }
}

/** Reports to the process that started this one that it is ready. */
export const sayReady = (ready: Ready): Effect.Effect<void> =>
  Effect.sync(() => {
    process.send?.({ ready: { ...ready, pid: process.pid } })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Environment variable that only `fork` sets. It is not a setting. */
const variable = "KINORA_PROCESS_INDEX"

/** The compile cache of this program is not inherited. Node adds a directory for its version. */
const compileCache = () => {
  const directory = getCompileCacheDir()
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) }
}

const killIfRunning = (worker: Worker, signal: "SIGTERM" | "SIGKILL") => {
  if (!worker.isDead()) worker.process.kill(signal)
}

const isReady = (message: unknown): message is { readonly ready: ReadyMember } =>
  typeof message === "object" && message !== null && "ready" in message
