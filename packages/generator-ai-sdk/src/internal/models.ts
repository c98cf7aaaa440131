/** Loads the module of a provider, and finds image models in it. */
import { DriverError } from "@kinora/generator/Driver"
import type { ImageModel } from "ai"
import { Effect, Predicate } from "effect"
import { resolve as resolveFrom } from "import-meta-resolve"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { limitedFetch } from "./limitedFetch.ts"

/** Options for `load`. */
export interface LoadOptions {
  readonly module: string
  readonly export?: string
  readonly options?: Readonly<Record<string, unknown>>
  /** Bytes of a response. */
  readonly bytesMax: number
}

/** Loads the module. Returns a function that returns the image model with this id. */
export const load = Effect.fnUntraced(function*({ bytesMax, export: name = "default", module, options }: LoadOptions) {
  const loaded: unknown = yield* Effect.tryPromise({
    try: () => import(/* @vite-ignore */ urlOf(module)),
    catch: (cause) => unusable(`The module ${module} cannot be loaded: ${messageOf(cause)}`)
  }).pipe(
    Effect.timeoutOrElse({
      duration: loadTimeout,
      orElse: () => Effect.fail(unusable(`The module ${module} cannot be loaded in ${loadTimeout}`))
    })
  )
  const exported = Predicate.hasProperty(loaded, name) ? loaded[name] : undefined
  const found = isProvider(exported) || isModel(exported) ? exported : yield* made(exported, options, bytesMax)
  return yield* isModel(found)
    ? Effect.succeed(() => found)
    : isProvider(found)
    ? Effect.succeed((id: string | undefined) => found.imageModel(id ?? ""))
    : Effect.fail(
      unusable(`${name} of the module ${module} is not a provider, a factory of providers or an image model`)
    )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time until a module is loaded. Modules can wait in their top level. */
const loadTimeout = "30 seconds"

/** The module of the options has no image models. */
const unusable = (message: string) => new DriverError({ cause: new Error(message) })

type Model = Exclude<ImageModel, string>

interface Provider {
  readonly imageModel: (id: string) => Model
}

const isModel = (value: unknown): value is Model =>
  Predicate.hasProperty(value, "doGenerate") && Predicate.hasProperty(value, "specificationVersion")

const isProvider = (value: unknown): value is Provider =>
  Predicate.hasProperty(value, "imageModel") && typeof value.imageModel === "function"

/** Calls a factory. Its provider uses a `fetch` that limits responses. */
const made = (
  exported: unknown,
  options: LoadOptions["options"],
  bytesMax: number
): Effect.Effect<unknown, DriverError> =>
  typeof exported !== "function" ? Effect.undefined : Effect.try({
    try: (): unknown => exported({ ...options, fetch: limitedFetch(bytesMax) }),
    // The message of a factory could contain its options.
    catch: () => unusable("The factory of the provider rejected its options")
  })

/** A package is that of the driver or else that of the working directory. */
const urlOf = (module: string): string => {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(module)).href
  try {
    return import.meta.resolve(module)
  } catch {
    return resolveFrom(module, pathToFileURL(`${process.cwd()}/`).href)
  }
}

/** Returns the first line, since messages of the loader can contain a stack. */
const messageOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""
