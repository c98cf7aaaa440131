/**
 * Where the service is, and the secrets for it: from flags, then from `KINORA_*` variables, then from a profile in
 * `$XDG_CONFIG_HOME/kinora/profiles.yaml` (`~/.config/kinora/profiles.yaml`). Secrets have no flags, because other users
 * of a machine can read command lines.
 */
import { Config, Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { CliError } from "effect/cli"
import { Yaml } from "effect/encoding"
import * as Settings from "./Settings.ts"

/** A service. */
export interface Connection {
  readonly url: string
  /** URL of the operator API, if it has a listener of its own. */
  readonly adminUrl: string
  readonly adminToken: Option.Option<Redacted.Redacted>
  readonly apiKey: Option.Option<Redacted.Redacted>
}

/** Returns the connection of this command. */
export const load: Effect.Effect<
  Connection,
  CliError.UserError,
  FileSystem.FileSystem | Path.Path | typeof Settings.Url.Identifier | typeof Settings.Profile.Identifier
> = Effect.gen(function*() {
  const env = yield* environment
  const name = Option.orElse(yield* Settings.Profile, () => env.profile)
  const profile = yield* readProfile(name)
  const given = Option.orElse(yield* Settings.Url, () => env.url)
  // A URL that is given replaces both URLs of the profile.
  const url = Option.getOrElse(given, () => profile.url ?? "http://127.0.0.1:4747")
  const adminUrl = Option.getOrElse(env.adminUrl, () => Option.isSome(given) ? url : profile.admin_url ?? url)
  return {
    url: yield* checked(url),
    adminUrl: yield* checked(adminUrl),
    adminToken: Option.orElse(env.adminToken, () => secret(profile.admin_token)),
    apiKey: Option.orElse(env.apiKey, () => secret(profile.api_key))
  }
})

/** Creates the error of a wrong setting or a failed command. */
export const fail = (userMessage: string, cause: unknown = userMessage): CliError.UserError =>
  new CliError.UserError({ cause, userMessage })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const text = (name: string) =>
  Config.String(name).pipe(Config.option, Config.map(Option.filter((value) => value !== "")))
const redacted = (name: string) => Config.map(text(name), Option.map((value) => Redacted.make(value)))

const environment = Config.all({
  url: text("KINORA_URL"),
  adminUrl: text("KINORA_ADMIN_URL"),
  profile: text("KINORA_PROFILE"),
  adminToken: redacted("KINORA_ADMIN_TOKEN"),
  apiKey: redacted("KINORA_API_KEY")
}).pipe(Effect.mapError((error) => fail(error.message, error)))

const Profile = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  admin_url: Schema.optionalKey(Schema.String),
  admin_token: Schema.optionalKey(Schema.String),
  api_key: Schema.optionalKey(Schema.String)
})

const decodeProfiles = Schema.decodeUnknownResult(
  Schema.NullOr(Schema.Record(Schema.String, Profile)),
  { onExcessProperty: "error" }
)

const secret = (value: string | undefined) => Option.map(Option.fromUndefinedOr(value), (value) => Redacted.make(value))

/** Reads a profile. The file need not exist, unless a profile is named. */
const readProfile = Effect.fnUntraced(function*(name: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const home = yield* Config.all({ xdg: text("XDG_CONFIG_HOME"), home: text("HOME") }).pipe(
    Effect.mapError((error) => fail(error.message, error))
  )
  const base = Option.orElse(home.xdg, () => Option.map(home.home, (home) => path.join(home, ".config")))
  const file = Option.map(base, (base) => path.join(base, "kinora", "profiles.yaml"))
  const content = Option.isSome(file)
    ? yield* fs.readFileString(file.value).pipe(Effect.option)
    : Option.none<string>()
  if (Option.isNone(content)) {
    return Option.isNone(name)
      ? {}
      : yield* fail(`There is no profile "${name.value}": ${Option.getOrElse(file, () => "the file")} does not exist.`)
  }
  const where = Option.getOrElse(file, () => "")
  const parsed = yield* Effect.try({
    try: (): unknown => Yaml.parse(content.value),
    catch: () => invalid(where, "YAML")
  })
  const decoded = decodeProfiles(parsed)
  // The error of the schema is not shown: it can contain a secret.
  if (decoded._tag === "Failure") {
    return yield* invalid(where, "profiles with url, admin_url, admin_token and api_key, all of them texts")
  }
  const profile = decoded.success?.[Option.getOrElse(name, () => "default")]
  if (profile === undefined && Option.isSome(name)) return yield* fail(`${where} has no profile "${name.value}".`)
  return profile ?? {}
})

const invalid = (file: string, expected: string) => fail(`${file} must contain ${expected}.`)

const checked = (text: string) => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
    ? Effect.succeed(text.replace(/\/+$/, ""))
    : Effect.fail(fail(`"${text}" is not a URL of a service; use one such as http://127.0.0.1:4747.`))
}
