/** The moderation of a host, from `moderation` of the configuration file. */
import { Issue } from "@kinora/catalog"
import { HttpModeration, Moderation, OpenAiModeration } from "@kinora/moderation"
import { Context, Data, Effect, type Layer, Redacted, Result, Schema } from "effect"
import { type LocatedProblem, messageOf, problemsOf, type SectionProblem } from "./internal/settings/sectionProblems.ts"
import { isRecord, withVariables } from "./internal/settings/variables.ts"
import type { Section } from "./Settings.ts"

/** Invalid options of the moderation. Stops the start and lists every problem. */
export class InvalidModeration extends Data.TaggedError("InvalidModeration")<{
  /** Paths start at the configuration, such as `moderation.hook.url`. Messages contain no values. */
  readonly problems: ReadonlyArray<LocatedProblem>
}> {
  override get message(): string {
    return messageOf("The configuration of the moderation is not valid", this.problems)
  }
}

/** A moderation, and the rules by which hosts compare theirs. */
export interface Configured {
  readonly layer: Layer.Layer<Moderation.Moderation>
  /** Its kind and its options without secrets; `null` if everything is accepted. */
  readonly rules: Schema.Json
}

/** The rules of the moderation of this host, for comparisons. Default: everything is accepted. */
export const CurrentRules = Context.Reference<Schema.Json>("@kinora/hosting/Moderation/CurrentRules", {
  defaultValue: () => null
})

/** Returns the moderation that the file configures. Without one, everything is accepted. */
export const fromFile = Effect.fnUntraced(
  function*(section: Section | undefined): Effect.fn.Return<Configured, InvalidModeration> {
    if (section === undefined) return { layer: Moderation.layerNone, rules: null }
    const { problems, value } = withVariables(section.content, Redacted.value(section.environment), [])
    if (problems.length > 0) return yield* invalid(problems)
    const [entry, ...others] = isRecord(value) ? Object.entries(value) : []
    if (entry === undefined || others.length > 0) return yield* notOne
    const [name, options] = entry
    if (!Object.hasOwn(kinds, name)) return yield* notOne
    const configured = kinds[name as keyof typeof kinds](options)
    if (Result.isFailure(configured)) {
      return yield* invalid(configured.failure.map(({ message, path }) => ({ path: [name, ...path], message })))
    }
    yield* Effect.logInfo("Requests and results are moderated", { by: name })
    const { layer, secrets } = configured.success
    return { layer, rules: { [name]: without(options, secrets) } }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (problems: ReadonlyArray<SectionProblem>) =>
  new InvalidModeration({
    problems: problems.map(({ message, path }) => ({ path: Issue.formatPath(["moderation", ...path]), message }))
  })

/** Makes a function that decodes the options of a moderation and returns its layer, and the names of the secret options. */
const kind = <A extends object>(
  schema: Schema.ConstraintDecoder<A>,
  layer: (options: A) => Layer.Layer<Moderation.Moderation>
) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (options: unknown) =>
    Result.mapBoth(decode(options), {
      onSuccess: (decoded) => ({
        layer: layer(decoded),
        secrets: Object.entries(decoded).flatMap(([name, value]) => Redacted.isRedacted(value) ? [name] : [])
      }),
      onFailure: problemsOf
    })
}

const kinds = {
  hook: kind(HttpModeration.Options, HttpModeration.layer),
  openai: kind(OpenAiModeration.Options, OpenAiModeration.layer)
} as const

/** Returns the options of a file without those of these names. */
const without = (options: unknown, names: ReadonlyArray<string>): Schema.Json =>
  Object.fromEntries(Object.entries(decodeOptions(options)).filter(([name]) => !names.includes(name)))

const decodeOptions = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))

const notOne = invalid([{ path: [], message: `must have one of the keys ${Object.keys(kinds).join(" and ")}` }])
