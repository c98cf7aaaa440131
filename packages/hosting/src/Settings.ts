/**
 * The settings of a host. Each is an environment variable and a key of the
 * configuration file. The environment takes precedence over the file. Unknown and
 * invalid settings stop the start, and all of them are reported at once.
 */
import type { PlanTable } from "@kinora/accounts"
import { AddressGuard } from "@kinora/address-guard"
import type { Media } from "@kinora/media"
import type { StripeProvider } from "@kinora/payments"
import { Duration, Effect, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import * as ConfigFile from "./internal/settings/configFile.ts"
import { databaseOf } from "./internal/settings/database.ts"
import { type Definition, definitions, type LogLevel, variableOf } from "./internal/settings/definitions.ts"
import { downloadLimitsOf } from "./internal/settings/downloads.ts"
import { fileSchema, type JsonSchema } from "./internal/settings/jsonSchema.ts"
import { mediaOf } from "./internal/settings/media.ts"
import { processesOf } from "./internal/settings/processes.ts"
import { proxyUserHeaderOf } from "./internal/settings/proxyUser.ts"
import { isPublic } from "./internal/settings/publicAddress.ts"
import { retentionOf } from "./internal/settings/retention.ts"
import { sectionOf } from "./internal/settings/sections.ts"
import { sessionsOf } from "./internal/settings/sessions.ts"
import { effectiveOf, type EffectiveSetting, type Environment, readAll } from "./internal/settings/settingValues.ts"
import { stripeOf } from "./internal/settings/stripe.ts"
import type { Section } from "./internal/settings/variables.ts"
import type { Retention } from "./Work.ts"

export { InvalidSettings, type SettingsProblem } from "./internal/settings/problems.ts"
export type { EffectiveSetting } from "./internal/settings/settingValues.ts"
export type { Section } from "./internal/settings/variables.ts"

/** The settings of a host. */
export interface Settings {
  /** Address to listen on. */
  readonly host: string
  /** Port to listen on; 0: any free port. */
  readonly port: number
  /** Address of the listener for operators. If `undefined`, see `OperatorListener`. */
  readonly adminHost: string | undefined
  /** Port of the listener for operators; 0: any free port. If `undefined`, see `OperatorListener`. */
  readonly adminPort: number | "off" | undefined
  /** Number of processes of a server. */
  readonly processes: number
  /** Origin in URLs that clients receive. If `undefined`, the origin of the request. */
  readonly baseUrl: string | undefined
  /** Origin in the URLs that upstreams call. If `undefined`, upstreams are polled only. */
  readonly callbackOrigin: string | undefined
  /** Networks of the reverse proxies whose forwarding headers are used. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Header, in lower case, in which these proxies send the e-mail address of a person. */
  readonly proxyUserHeader: string | undefined
  /** Origins whose scripts can call `/v1`, or `*`. */
  readonly corsOrigins: ReadonlyArray<string>
  /** Directory of the embedded database and of stored files. */
  readonly dataDirectory: string
  /** URL of a Postgres. If `undefined`, the embedded database in the data directory is used. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** Maximum number of connections to Postgres. */
  readonly databasePoolSize: number
  /** How long a start is repeated while Postgres does not respond. */
  readonly databaseWait: Duration.Duration
  /** Time after which Postgres ends a statement. */
  readonly databaseStatement: Duration.Duration
  /** Time after which a unit of work that has not begun to commit is rolled back. */
  readonly databaseUnit: Duration.Duration
  /** Time after which a wait for a lock ends, and the transaction runs again. */
  readonly databaseLock: Duration.Duration
  /** Time after which Postgres ends the session of a transaction whose client does nothing. */
  readonly databaseIdle: Duration.Duration
  /** Skew to the clock of the database with which a process does not start. */
  readonly clockSkewMax: Duration.Duration
  /** Time in which one set of a sweep has to end. */
  readonly sweepDeadline: Duration.Duration
  /** Time without progress after which an operation on stored files fails. */
  readonly storageSilence: Duration.Duration
  /** Age after which a partial file is considered left over from a killed process. */
  readonly partialFileAge: Duration.Duration
  /** Time between two searches for partial files of killed processes. */
  readonly partialFileInterval: Duration.Duration
  /** Maximum number of concurrent jobs in this process; 0: none. */
  readonly workers: number
  /** Of these jobs, the number that one account leaves to other accounts. */
  readonly workerReserved: number
  /** Models whose jobs this process runs. If `undefined`, all models of the catalog. */
  readonly workerModels: ReadonlyArray<string> | undefined
  /** How long the jobs of this process stay claimed unless it renews its lease. */
  readonly jobLease: Duration.Duration
  /** How long running jobs may continue when this process stops. */
  readonly jobGrace: Duration.Duration
  /** Limits of images and of the verification of results, and options for the first frames of videos. */
  readonly media: Required<Pick<Media.MediaOptions, "concurrency" | "frame" | "inputConcurrency" | "probe">>
  /** Maximum number of pixels of the input images of an account per minute. */
  readonly inputPixelsPerMinute: number
  /** Keys of content URLs: the first signs, all verify. If empty, one is generated and kept in the data directory. */
  readonly urlSigningKeys: ReadonlyArray<Redacted.Redacted>
  /** Keys of webhook secrets: the first encrypts, all decrypt. If empty, one is generated and kept in the data directory. */
  readonly webhookKeys: ReadonlyArray<Redacted.Redacted>
  /** Maximum number of concurrent webhook sends in this process; 0: none. */
  readonly webhookSends: number
  /** Domains of this service besides the host of `baseUrl`. No webhook is sent to them. */
  readonly webhookOwnDomains: ReadonlyArray<string>
  /** If `true`, no webhook is sent to an address that one of these domains resolves to. */
  readonly webhookOwnAddresses: boolean
  /** Networks that webhooks may be sent to although they are private, over HTTP and to any port too. */
  readonly webhookAllowedNetworks: ReadonlyArray<string>
  /** If `true`, webhooks may use HTTP, any port and private addresses. */
  readonly webhookAllowPrivate: boolean
  /** Token of the admin API. If `undefined`, the admin API is disabled. */
  readonly adminToken: Redacted.Redacted | undefined
  /** If `true`, a server creates the demo account in a database without one. */
  readonly demoAccount: boolean
  /** If `true`, a server serves the console. */
  readonly console: boolean
  /** How long sessions of accounts and of operators last. */
  readonly sessions: ReturnType<typeof sessionsOf>
  /** Access to Stripe. If `undefined`, customers cannot pay by themselves. */
  readonly stripe: StripeProvider.StripeOptions | undefined
  /** How long after completion a result can be downloaded. */
  readonly resultTtl: Duration.Duration
  /** How long rows are kept. Not finite: forever. */
  readonly retention: { readonly [Table in keyof Retention]-?: Duration.Duration }
  /** How long ended webhook deliveries are kept. */
  readonly webhookTtl: Duration.Duration
  /** Bytes that an account may download per UTC day. */
  readonly downloadBytesPerDay: number
  /** Share of these bytes that signed URLs can use. */
  readonly downloadLinkShare: number
  /** Bytes of a result that may be downloaded per UTC day, as a multiple of its length. */
  readonly resultDownloadMultiple: number
  /** Maximum number of concurrent downloads of results of an account with its keys, and of as many through signed URLs. */
  readonly downloadStreamsMax: number
  /** The same for thumbnails, previews and posters. */
  readonly downloadPicturesMax: number
  /** Limits of the usable uploads of an account: their number, and their bytes together. */
  readonly uploads: { readonly uploadsMax: number; readonly uploadBytesMax: number }
  /** Time after which a request gets 503. */
  readonly requestTime: Duration.Duration
  /** Maximum number of requests that a process handles at the same time. */
  readonly requestsMax: number
  /** Maximum number of open connections to the listener for clients. */
  readonly connectionsMax: number
  /** Maximum number of these per client address, apart from trusted proxies. */
  readonly addressConnectionsMax: number
  /** Bytes of small bodies that arrive at a process at the same time with authentication, and as many without. */
  readonly smallBodiesBytesMax: number
  /** Time in which a body that creates a job has to arrive. */
  readonly bodyTimeMax: Duration.Duration
  /** Bytes per second that a client has to send of a large body, and to receive of a file. */
  readonly transferRateMin: number
  /** How long a client can fall behind this rate with a response before its connection is closed. */
  readonly responseStallMax: Duration.Duration
  /** How long the image endpoint waits for its image. */
  readonly imageWait: Duration.Duration
  /** How long a stopping server continues to accept requests while `/readyz` returns 503. */
  readonly drain: Duration.Duration
  /** How long open requests may continue when this process stops. */
  readonly requestGrace: Duration.Duration
  /** Time in which the database and the file storage have to respond to `/readyz`. */
  readonly readinessMax: Duration.Duration
  /** If `true`, a server serves `/metrics`. */
  readonly metrics: boolean
  /** Minimum level of log messages. */
  readonly logLevel: typeof LogLevel.Type
  /** `drivers` of the file, which `Drivers.layer` loads and validates. If `undefined`, the file has none. */
  readonly driverFile: Section | undefined
  /** `moderation` of the file, which `Moderation.layer` validates. If `undefined`, nothing is moderated. */
  readonly moderation: Section | undefined
  /** `oidc` of the file, which `Oidc.fromFile` validates. If `undefined`, there are no identity providers. */
  readonly oidc: Section | undefined
  /** `models` of the file, which the catalog validates. If `undefined`, the default models. */
  readonly models: unknown
  /** Slots, quotas and prices of the plan tiers. */
  readonly planTable: PlanTable.PlanTable
  /** Every setting with its value and where it comes from, without secrets, for operators. */
  readonly shown: ReadonlyArray<EffectiveSetting>
}

/** Documentation of a setting. */
export interface SettingDoc {
  readonly variable: string
  readonly key: string
  readonly default: string
  /** A noun phrase that describes the valid values. */
  readonly expected: string
  readonly about: string
}

/** The documentation of every setting, in the order of the reference page. */
export const docs: ReadonlyArray<SettingDoc> = Object.entries<Definition>(definitions).map(([key, definition]) => ({
  variable: variableOf(key),
  key,
  default: definition.default ?? "",
  expected: definition.expected,
  about: definition.about
}))

/**
 * Reads the settings from `environment` and from the configuration file: the one that
 * `KINORA_CONFIG` names, or else `kinora.config.yaml` in the working directory if it exists.
 */
export const load = Effect.fn("Settings.load")(function*(environment: Environment) {
  const file = yield* ConfigFile.read(environment["KINORA_CONFIG"] || undefined)
  const { planTable, values } = yield* readAll(environment, file)
  const settings: Settings = {
    host: values.host,
    port: values.port,
    adminHost: values.admin_host,
    adminPort: values.admin_port,
    processes: yield* processesOf(values),
    baseUrl: values.base_url,
    callbackOrigin: values.callback_url ?? publicOriginOf(values.base_url),
    trustedProxies: (values.trusted_proxies ?? []).map(IpNetwork.fromStringUnsafe),
    proxyUserHeader: yield* proxyUserHeaderOf(values),
    corsOrigins: values.cors_origins ?? [],
    dataDirectory: values.data_dir,
    databaseUrl: redacted(values.database_url),
    ...databaseOf(values),
    sweepDeadline: Duration.seconds(values.sweep_seconds),
    storageSilence: Duration.seconds(values.storage_silence_seconds),
    partialFileAge: Duration.hours(values.partial_file_age_hours),
    partialFileInterval: Duration.minutes(values.partial_file_interval_minutes),
    workers: values.workers,
    workerReserved: values.worker_reserved,
    workerModels: values.worker_models,
    jobLease: Duration.seconds(values.job_lease_seconds),
    jobGrace: Duration.seconds(values.job_grace_seconds),
    media: mediaOf(values),
    inputPixelsPerMinute: values.input_megapixels_per_minute * 1_000_000,
    urlSigningKeys: (values.url_signing_keys ?? []).map((key) => Redacted.make(key)),
    webhookKeys: (values.webhook_keys ?? []).map((key) => Redacted.make(key)),
    webhookSends: values.webhook_sends,
    webhookOwnDomains: values.webhook_own_domains ?? [],
    webhookOwnAddresses: values.webhook_own_addresses === "true",
    webhookAllowedNetworks: values.webhook_allowed_networks ?? [],
    webhookAllowPrivate: values.webhook_allow_private === "true",
    adminToken: redacted(values.admin_token),
    demoAccount: values.demo_account === undefined
      ? values.database_url === undefined && !isPublic(values.host)
      : values.demo_account === "true",
    console: values.console === "true",
    sessions: sessionsOf(values),
    stripe: stripeOf(values),
    resultTtl: Duration.hours(values.results_ttl_hours),
    retention: retentionOf(values),
    webhookTtl: Duration.days(values.webhooks_ttl_days),
    ...downloadLimitsOf(values),
    requestTime: Duration.seconds(values.request_seconds),
    uploads: { uploadsMax: values.uploads_per_account, uploadBytesMax: values.upload_mib_per_account * 1024 ** 2 },
    requestsMax: values.max_requests,
    connectionsMax: values.max_connections,
    addressConnectionsMax: values.max_connections_per_address ?? Math.ceil(values.max_connections / 4),
    smallBodiesBytesMax: values.small_bodies_mib * 1024 ** 2,
    bodyTimeMax: Duration.seconds(values.body_seconds),
    transferRateMin: values.transfer_kib_per_second * 1024,
    responseStallMax: Duration.seconds(values.response_stall_seconds),
    imageWait: Duration.seconds(values.image_wait_seconds),
    drain: Duration.seconds(values.drain_seconds),
    requestGrace: Duration.seconds(values.request_grace_seconds),
    readinessMax: Duration.seconds(values.readiness_seconds),
    metrics: values.metrics === "true",
    logLevel: values.log_level,
    driverFile: sectionOf("drivers", file, environment),
    moderation: sectionOf("moderation", file, environment),
    oidc: sectionOf("oidc", file, environment),
    models: file.content["models"],
    planTable,
    shown: effectiveOf(environment, file)
  }
  return settings
})

/**
 * Returns every setting with its value and where it comes from, without secrets. The values
 * need not be valid.
 */
export const effective = Effect.fn("Settings.effective")(function*(environment: Environment) {
  const file = yield* ConfigFile.read(environment["KINORA_CONFIG"] || undefined)
  return effectiveOf(environment, file)
})

/** The JSON Schema of the configuration file, for editors. `load` checks more than it describes. */
export const jsonSchema: JsonSchema = fileSchema()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns `baseUrl` if upstreams may be able to call it. */
const publicOriginOf = (baseUrl: string | undefined): string | undefined => {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  return url !== null && url.protocol === "https:" && AddressGuard.hasPublicHost(url) ? baseUrl : undefined
}

const redacted = (secret: string | undefined): Redacted.Redacted | undefined =>
  secret === undefined ? undefined : Redacted.make(secret)
