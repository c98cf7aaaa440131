/** The identity providers of a host, from `oidc` of the configuration file. */
import { Issue } from "@kinora/catalog"
import { OidcOptions, OidcProviders } from "@kinora/oidc"
import { Data, Effect, Layer, Redacted, Result, Schema } from "effect"
import { type LocatedProblem, messageOf, problemsOf, type SectionProblem } from "./internal/settings/sectionProblems.ts"
import { withVariables } from "./internal/settings/variables.ts"
import type { Section } from "./Settings.ts"

/** Invalid options of identity providers. Stops the start and lists every problem. */
export class InvalidOidc extends Data.TaggedError("InvalidOidc")<{
  /** Paths start at the configuration, such as `oidc[0].issuer`. Messages contain no values. */
  readonly problems: ReadonlyArray<LocatedProblem>
}> {
  override get message(): string {
    return messageOf("The configuration of identity providers is not valid", this.problems)
  }
}

/** Returns the identity providers that the file configures. A provider is not called before the first sign-in. */
export const fromFile = Effect.fnUntraced(
  function*(section: Section | undefined): Effect.fn.Return<Layer.Layer<never>, InvalidOidc> {
    if (section === undefined) return Layer.empty
    const { problems, value } = withVariables(section.content, Redacted.value(section.environment), [])
    if (problems.length > 0) return yield* invalid(problems)
    const decoded = decode(value)
    if (Result.isFailure(decoded)) return yield* invalid(problemsOf(decoded.failure))
    yield* Effect.logInfo("People sign in with identity providers", {
      providers: decoded.success.map(({ id }) => id).join(", ")
    })
    return OidcProviders.layer(decoded.success)
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (problems: ReadonlyArray<SectionProblem>) =>
  new InvalidOidc({
    problems: problems.map(({ message, path }) => ({ path: Issue.formatPath(["oidc", ...path]), message }))
  })

const decode = Schema.decodeUnknownResult(OidcOptions.OidcOptions, { errors: "all", onExcessProperty: "error" })
