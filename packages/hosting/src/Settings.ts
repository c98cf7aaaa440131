/**
 * The settings of a host: an environment variable each, and the same as a key of
 * the configuration file. The environment wins over the file, the file over the
 * default. What is unknown or wrong stops the start, all of it at once.
 */
import { Data, Effect, Redacted, Result, Schema, SchemaGetter } from "effect"
import { Yaml } from "effect/encoding"
import { readFile } from "node:fs/promises"

/** What a host is told. */
export interface Settings {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Origin in the URLs that clients get; absent: the origin that the request came to (D26a). */
  readonly baseUrl: string | undefined
  /** Directory of the embedded database and of stored files. */
  readonly dataDirectory: string
  /** Absent: an embedded database in the data directory. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** Jobs at once in this process; 0: none. */
  readonly workers: number
  /** The first signs, all verify; empty: one is made and kept in the data directory. */
  readonly urlSigningKeys: ReadonlyArray<Redacted.Redacted>
  readonly logLevel: typeof LogLevel.Type
  /** The file's `models`, to be checked by the catalog; absent: the default models. */
  readonly models: unknown
}

/** One thing that is wrong, as a sentence. Never carries the value of a secret. */
export interface SettingsProblem {
  /** `KINORA_PORT`, or `kinora.config.yaml: port`. */
  readonly where: string
  readonly problem: string
}

/** The start stops here; the message has one line for each problem. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly problems: ReadonlyArray<SettingsProblem>
}> {
  override get message(): string {
    return this.problems.map(({ problem, where }) => `${where} ${problem}`).join("\n")
  }
}

/** A documented setting. `secret` values are never repeated in a message. */
export interface SettingDoc {
  readonly variable: string
  readonly key: string
  readonly default: string
  readonly about: string
}

const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "error", "none"])

const PortNumber = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))
const JobCount = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 256 }))
const DatabaseUrl = Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/./))
const Secret = Schema.String.check(Schema.isMinLength(32))

/** Every setting: how it is read, and what the documentation says of it. */
export const definitions = {
  host: {
    schema: Schema.NonEmptyString,
    default: "127.0.0.1",
    expected: "an address to listen on",
    about: "Address to listen on. The default answers this machine only; 0.0.0.0 answers the network."
  },
  port: {
    schema: PortNumber,
    default: "4747",
    expected: "a port from 0 to 65535",
    about: "Port to listen on; 0 takes any free one and prints it."
  },
  base_url: {
    schema: Schema.String.check(Schema.isPattern(/^https?:\/\/[^/?#]+$/)),
    default: undefined,
    expected: "an origin such as https://media.example.com, without a path",
    about: "Origin in the URLs that clients get. Absent: the origin that the request came to."
  },
  data_dir: {
    schema: Schema.NonEmptyString,
    default: "./data",
    expected: "a directory",
    about: "Directory of stored files, and of the embedded database, which one process at a time can have."
  },
  database_url: {
    schema: DatabaseUrl,
    default: undefined,
    expected: "a URL postgres://user:password@host:port/database",
    about: "Postgres to use. Absent: an embedded database in the data directory.",
    isSecret: true
  },
  workers: {
    schema: JobCount,
    default: "4",
    expected: "a number of jobs from 0 to 256",
    about: "Jobs at once in this process; 0: none, some other process works."
  },
  url_signing_keys: {
    schema: Schema.String,
    default: undefined,
    expected: "secrets of at least 32 characters, separated by commas",
    about:
      "Secrets that sign content URLs, separated by commas: the first signs, all verify. Absent: one is made and kept in the data directory.",
    isSecret: true,
    isList: true
  },
  log_level: {
    schema: LogLevel,
    default: "info",
    expected: "one of trace, debug, info, warn, error, none",
    about: "The least severe messages that are logged."
  }
} as const

/** The documentation of every setting, in the order in which they are shown. */
export const docs: ReadonlyArray<SettingDoc> = Object.entries(definitions).map(([key, definition]) => ({
  variable: variableOf(key),
  key,
  default: definition.default ?? "",
  about: definition.about
}))

/**
 * Reads the settings from `environment`, and from the file that `KINORA_CONFIG`
 * names, or `kinora.config.yaml` in the working directory if there is one.
 */
export const load = Effect.fn("Settings.load")(function*(environment: Readonly<Record<string, string | undefined>>) {
  const file = yield* readConfigFile(environment["KINORA_CONFIG"] || undefined)
  const problems: Array<SettingsProblem> = [...unknownNames(environment, file)]

  const read = <A>(key: keyof typeof definitions, schema: Schema.ConstraintDecoder<A>): A | undefined => {
    const source = sourceOf(key, environment, file)
    if (source === undefined) return undefined
    const result = Schema.decodeUnknownResult(schema)(source.value)
    if (Result.isSuccess(result)) return result.success
    const { expected, ...definition } = definitions[key]
    const value = "isSecret" in definition ? "is not valid" : `is ${JSON.stringify(source.value)}`
    problems.push({ where: source.where, problem: `${value}; expected ${expected}` })
    return undefined
  }

  const host = read("host", definitions.host.schema)
  const port = read("port", definitions.port.schema)
  const baseUrl = read("base_url", definitions.base_url.schema)
  const dataDirectory = read("data_dir", definitions.data_dir.schema)
  const databaseUrl = read("database_url", definitions.database_url.schema)
  const workers = read("workers", definitions.workers.schema)
  const signingKeys = read("url_signing_keys", SecretList)
  const logLevel = read("log_level", definitions.log_level.schema)

  // A setting with a default is absent only when its value was wrong, which is a problem already.
  if (
    problems.length > 0 || host === undefined || port === undefined || dataDirectory === undefined ||
    workers === undefined || logLevel === undefined
  ) {
    return yield* new InvalidSettings({ problems })
  }
  const settings: Settings = {
    host,
    port,
    baseUrl,
    dataDirectory,
    databaseUrl: databaseUrl === undefined ? undefined : Redacted.make(databaseUrl),
    workers,
    urlSigningKeys: (signingKeys ?? []).map((key) => Redacted.make(key)),
    logLevel,
    models: file.content["models"]
  }
  return settings
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface ConfigFile {
  readonly path: string
  readonly content: Readonly<Record<string, unknown>>
}

const defaultPath = "kinora.config.yaml"

/** Names with our prefix that are no settings of a host: where the file is, and what only tests read. */
const otherNames = new Set(["KINORA_CONFIG", "KINORA_TEST_POSTGRES", "KINORA_TEST_POSTGRES_URL"])

const SecretList = Schema.String.pipe(
  Schema.decodeTo(Schema.Array(Secret), {
    decode: SchemaGetter.transform((text: string) => text.split(",").map((key) => key.trim())),
    encode: SchemaGetter.transform((keys: ReadonlyArray<string>) => keys.join(","))
  })
)

function variableOf(key: string): string {
  return `KINORA_${key.toUpperCase()}`
}

/** The default file may be missing, one that was named may not. */
const readConfigFile = (named: string | undefined): Effect.Effect<ConfigFile, InvalidSettings> => {
  const path = named ?? defaultPath
  return Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => isMissing(cause) ? new Missing() : invalid(path, `cannot be read: ${messageOf(cause)}`)
  }).pipe(
    Effect.flatMap((text) => parseConfigFile(path, text)),
    Effect.catchTag(
      "Missing",
      () => named === undefined ? Effect.succeed({ path, content: {} }) : Effect.fail(invalid(path, "does not exist"))
    )
  )
}

const parseConfigFile = Effect.fnUntraced(function*(path: string, text: string) {
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

class Missing extends Data.TaggedError("Missing")<{}> {}

const isMissing = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOENT"

const messageOf = (cause: unknown) => cause instanceof Error ? cause.message : String(cause)

const invalid = (where: string, problem: string) => new InvalidSettings({ problems: [{ where, problem }] })

const unknownNames = (
  environment: Readonly<Record<string, string | undefined>>,
  file: ConfigFile
): ReadonlyArray<SettingsProblem> => {
  const known = new Set(docs.map(({ variable }) => variable))
  const keys = new Set([...Object.keys(definitions), "models"])
  return [
    ...Object.keys(environment)
      .filter((name) => name.startsWith("KINORA_") && !known.has(name) && !otherNames.has(name))
      .map((name) => ({ where: name, problem: `is no setting; known are ${[...known].join(", ")}` })),
    ...Object.keys(file.content)
      .filter((key) => !keys.has(key))
      .map((key) => ({ where: `${file.path}: ${key}`, problem: `is no setting; known are ${[...keys].join(", ")}` }))
  ]
}

/** The text of a setting and where it comes from. An empty variable counts as absent. */
const sourceOf = (
  key: keyof typeof definitions,
  environment: Readonly<Record<string, string | undefined>>,
  file: ConfigFile
): { readonly where: string; readonly value: unknown } | undefined => {
  const variable = variableOf(key)
  const fromEnvironment = environment[variable]
  if (fromEnvironment !== undefined && fromEnvironment !== "") return { where: variable, value: fromEnvironment }
  const fromFile = file.content[key]
  if (fromFile !== undefined && fromFile !== null) {
    const isList = "isList" in definitions[key] && Array.isArray(fromFile)
    return { where: `${file.path}: ${key}`, value: isList ? fromFile.join(",") : spelled(fromFile) }
  }
  const fallback = definitions[key].default
  return fallback === undefined ? undefined : { where: variable, value: fallback }
}

/** A scalar of YAML as a variable would spell it. Anything else stays what it is, which no setting accepts. */
const spelled = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value
