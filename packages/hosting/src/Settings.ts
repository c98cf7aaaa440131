/**
 * The settings of a host: an environment variable each, and the same as a key of
 * the configuration file. The environment wins over the file, the file over the
 * default. What is unknown or wrong stops the start, all of it at once.
 */
import type { PlanTable } from "@kinora/accounts"
import { Duration, Effect, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import * as ConfigFile from "./internal/settings/configFile.ts"
import { type Definition, definitions, type LogLevel, variableOf } from "./internal/settings/definitions.ts"
import { type Environment, readAll } from "./internal/settings/reading.ts"

export { InvalidSettings, type SettingsProblem } from "./internal/settings/problems.ts"

/** What a host is told. */
export interface Settings {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Origin in the URLs that clients get; absent: the origin that the request came to (D26a). */
  readonly baseUrl: string | undefined
  /** Networks of the proxies in front, whose headers are believed (D28). */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Directory of the embedded database and of stored files. */
  readonly dataDirectory: string
  /** Absent: an embedded database in the data directory. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** Connections to Postgres, at most. */
  readonly databasePoolSize: number
  /** Jobs at once in this process; 0: none. */
  readonly workers: number
  /** The first signs, all verify; empty: one is made and kept in the data directory. */
  readonly urlSigningKeys: ReadonlyArray<Redacted.Redacted>
  /** The first seals secrets of webhook endpoints, all open; empty: one is made and kept in the data directory. */
  readonly webhookKeys: ReadonlyArray<Redacted.Redacted>
  /** Webhooks sent at once by this process; 0: none. */
  readonly webhookSends: number
  /** Domains that no webhook goes to, beside the host of `baseUrl` (section "Endpoint requirements"). */
  readonly webhookOwnDomains: ReadonlyArray<string>
  /** Whether addresses of these domains are theirs alone, so that no webhook goes to them under another name either. */
  readonly webhookOwnAddresses: boolean
  /** Whether webhooks may go over HTTP, to any port and to private addresses (D44). */
  readonly webhookAllowPrivate: boolean
  /** The operators' token; absent: there is no interface for operators (D50). */
  readonly adminToken: Redacted.Redacted | undefined
  /** Whether the demo account is made in a database that has none. */
  readonly demoAccount: boolean
  /** How long after completion a result can be downloaded (D29). */
  readonly resultTtl: Duration.Duration
  /** What an account may download per UTC day (D29). */
  readonly downloadBytesPerDay: number
  /** How many times its size may be downloaded of a result per UTC day (D29). */
  readonly resultDownloadMultiple: number
  /** Files that an account may download at the same time (D29). */
  readonly downloadStreamsMax: number
  /** How long the image endpoint waits (D20). */
  readonly imageWait: Duration.Duration
  /** How long a server that stops goes on taking requests while it is not ready (D49). */
  readonly drain: Duration.Duration
  /** Whether a server shows what it has counted (D49). */
  readonly metrics: boolean
  readonly logLevel: typeof LogLevel.Type
  /** The file's `models`, to be checked by the catalog; absent: the default models. */
  readonly models: unknown
  /** What tiers allow and cost (D25). */
  readonly planTable: PlanTable.PlanTable
}

/** A documented setting. `secret` values are never repeated in a message. */
export interface SettingDoc {
  readonly variable: string
  readonly key: string
  readonly default: string
  /** A noun phrase that describes the valid values. */
  readonly expected: string
  readonly about: string
}

/** The documentation of every setting, in the order in which they are shown. */
export const docs: ReadonlyArray<SettingDoc> = Object.entries<Definition>(definitions).map(([key, definition]) => ({
  variable: variableOf(key),
  key,
  default: definition.default ?? "",
  expected: definition.expected,
  about: definition.about
}))

/**
 * Reads the settings from `environment`, and from the file that `KINORA_CONFIG`
 * names, or `kinora.config.yaml` in the working directory if there is one.
 */
export const load = Effect.fn("Settings.load")(function*(environment: Environment) {
  const file = yield* ConfigFile.read(environment["KINORA_CONFIG"] || undefined)
  const { planTable, values } = yield* readAll(environment, file)
  const settings: Settings = {
    host: values.host,
    port: values.port,
    baseUrl: values.base_url,
    trustedProxies: (values.trusted_proxies ?? []).map(IpNetwork.fromStringUnsafe),
    dataDirectory: values.data_dir,
    databaseUrl: redacted(values.database_url),
    databasePoolSize: values.database_pool_size,
    workers: values.workers,
    urlSigningKeys: (values.url_signing_keys ?? []).map((key) => Redacted.make(key)),
    webhookKeys: (values.webhook_keys ?? []).map((key) => Redacted.make(key)),
    webhookSends: values.webhook_sends,
    webhookOwnDomains: values.webhook_own_domains ?? [],
    webhookOwnAddresses: values.webhook_own_addresses === "true",
    webhookAllowPrivate: values.webhook_allow_private === "true",
    adminToken: redacted(values.admin_token),
    demoAccount: values.demo_account === "true",
    resultTtl: Duration.hours(values.results_ttl_hours),
    downloadBytesPerDay: values.download_gib_per_day * 1024 ** 3,
    resultDownloadMultiple: values.download_multiple,
    downloadStreamsMax: values.download_streams,
    imageWait: Duration.seconds(values.image_wait_seconds),
    drain: Duration.seconds(values.drain_seconds),
    metrics: values.metrics === "true",
    logLevel: values.log_level,
    models: file.content["models"],
    planTable
  }
  return settings
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const redacted = (secret: string | undefined): Redacted.Redacted | undefined =>
  secret === undefined ? undefined : Redacted.make(secret)
