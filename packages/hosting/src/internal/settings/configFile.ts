/** The configuration file. */
import { Data, Effect } from "effect"
import { Yaml } from "effect/encoding"
import { readFile } from "node:fs/promises"
import { invalid, type InvalidSettings } from "./problems.ts"

/** Content and path of the configuration file. */
export interface ConfigFile {
  readonly path: string
  readonly content: Readonly<Record<string, unknown>>
}

/** Reads the named file, or the default file. The default file may be missing; a named file must exist. */
export const read = (named: string | undefined): Effect.Effect<ConfigFile, InvalidSettings> => {
  const path = named ?? defaultPath
  return Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => isMissing(cause) ? new Missing() : invalid(path, `cannot be read: ${messageOf(cause)}`)
  }).pipe(
    Effect.flatMap((text) => parse(path, text)),
    Effect.catchTag(
      "Missing",
      () => named === undefined ? Effect.succeed({ path, content: {} }) : Effect.fail(invalid(path, "does not exist"))
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultPath = "kinora.config.yaml"

class Missing extends Data.TaggedError("Missing")<{}> {}

const parse = Effect.fnUntraced(function*(path: string, text: string) {
  const content = yield* Effect.try({
    try: () => Yaml.parse(text),
    catch: (cause) => invalid(path, `is not YAML: ${messageOf(cause)}`)
  })
  if (content === null) return { path, content: {} }
  if (typeof content !== "object" || Array.isArray(content)) {
    return yield* invalid(path, "must be a mapping of settings")
  }
  return { path, content: { ...content } }
})

const isMissing = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOENT"

const messageOf = (cause: unknown) => cause instanceof Error ? cause.message : String(cause)
