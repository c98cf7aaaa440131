/** Loads the module of a provider, and finds image and video models in it. */
import { DriverError } from "@kinora/generator/Driver"
import { type experimental_startVideo, type ImageModel, NoSuchModelError } from "ai"
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

/** A video model. */
export type VideoModel = Exclude<Parameters<typeof experimental_startVideo>[0]["model"], string>

/** The models of a module by their ids. A module that exports a model has only that one. */
export interface Models {
  /** Returns an image model. Throws if there is none with this id. */
  readonly image: (id: string | undefined) => Model
  /** Returns a video model that can be started and asked for its status. Throws if there is none with this id. */
  readonly video: (id: string | undefined) => VideoModel
}

/** Loads the module, and returns its models. */
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
  return yield* isModel(found) || isProvider(found) ? Effect.succeed(modelsOf(found)) : Effect.fail(
    unusable(`${name} of the module ${module} is not a provider, a factory of providers or a model`)
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time until a module is loaded. Modules can wait in their top level. */
const loadTimeout = "30 seconds"

/** The module of the options has no models. */
const unusable = (message: string) => new DriverError({ cause: new Error(message) })

type Model = Exclude<ImageModel, string>

interface Provider {
  readonly imageModel?: (id: string) => Model
  readonly videoModel?: (id: string) => VideoModel
}

const hasFunction = (value: unknown, name: string): boolean =>
  Predicate.hasProperty(value, name) && typeof value[name] === "function"

/** Video models can have images' `doGenerate`, too, which the driver does not call. */
const isVideoModel = (value: unknown): value is VideoModel =>
  hasFunction(value, "doStart") && hasFunction(value, "doStatus") &&
  Predicate.hasProperty(value, "specificationVersion")

const isModel = (value: unknown): value is Model | VideoModel =>
  isVideoModel(value) || (hasFunction(value, "doGenerate") && Predicate.hasProperty(value, "specificationVersion"))

const isProvider = (value: unknown): value is Provider =>
  hasFunction(value, "imageModel") || hasFunction(value, "videoModel")

const modelsOf = (found: Model | VideoModel | Provider): Models => {
  const provider: Provider = isVideoModel(found)
    ? { videoModel: () => found }
    : isModel(found)
    ? { imageModel: () => found }
    : found
  return {
    image: (id = "") => provider.imageModel?.(id) ?? absent(id, "imageModel"),
    video: (id = "") => {
      const model = provider.videoModel?.(id)
      return isVideoModel(model) ? model : absent(id, "videoModel")
    }
  }
}

const absent = (modelId: string, modelType: "imageModel" | "videoModel"): never => {
  throw new NoSuchModelError({ modelId, modelType })
}

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
