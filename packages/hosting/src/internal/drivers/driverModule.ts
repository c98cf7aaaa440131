/** Loads the module of a driver. */
import { Driver } from "@kinora/generator"
import { Data, Effect } from "effect"
import { resolve as resolveFrom } from "import-meta-resolve"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** The driver that a module exports. */
export type DriverModule = Driver.Driver

/** A module is not a driver. `problem` is a predicate of a sentence about the module. */
class UnusableModule extends Data.TaggedError("UnusableModule")<{ readonly problem: string }> {}

/**
 * Imports a module and returns its default export. A path is relative to `directory`. A
 * package is that of this host or else that of `directory`, so that drivers of Kinora
 * are not loaded twice.
 */
export const load = Effect.fnUntraced(function*(module: string, directory: string) {
  const loaded: unknown = yield* Effect.tryPromise({
    try: () => import(/* @vite-ignore */ urlOf(module, directory)),
    catch: (cause) => new UnusableModule({ problem: `cannot be loaded: ${messageOf(cause)}` })
  }).pipe(
    Effect.timeoutOrElse({
      duration: loadTimeout,
      orElse: () => Effect.fail(new UnusableModule({ problem: `cannot be loaded in ${loadTimeout}` }))
    })
  )
  const driver = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined
  if (!Driver.isDriver(driver)) {
    return yield* new UnusableModule({ problem: "must have a driver, created with Driver.make, as its default export" })
  }
  return driver
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time until a module is loaded. Modules can wait in their top level. */
const loadTimeout = "30 seconds"

const urlOf = (module: string, directory: string): string => {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(directory, module)).href
  try {
    return import.meta.resolve(module)
  } catch {
    return resolveFrom(module, pathToFileURL(`${directory}/`).href)
  }
}

/** Returns the first line, since messages of the loader can contain a stack. */
const messageOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""
