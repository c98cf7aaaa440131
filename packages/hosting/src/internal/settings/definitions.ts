/** Definitions of all settings: schema, default and documentation. */
import { AddressGuard } from "@kinora/address-guard"
import { Schema } from "effect"
import { addressDefinitions } from "./addressDefinitions.ts"
import { between } from "./between.ts"
import { consoleDefinitions } from "./consoleDefinitions.ts"
import { databaseDefinitions } from "./databaseDefinitions.ts"
import { listOf } from "./listOf.ts"
import { mediaDefinitions } from "./mediaDefinitions.ts"
import { paymentDefinitions } from "./paymentDefinitions.ts"
import { requestDefinitions } from "./requestDefinitions.ts"
import { retentionDefinitions } from "./retentionDefinitions.ts"

/** Minimum level of log messages. */
export const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "error", "none"])

const Secret = Schema.String.check(Schema.isMinLength(32))
/** A host name without scheme, port, path or wildcard. */
const HostName = Schema.String.check(
  Schema.makeFilter((text) => /^[^\s/:?#@*\\]+$/.test(text) && URL.canParse(`https://${text}`))
)
const Network = Schema.String.check(Schema.makeFilter(AddressGuard.isNetwork))
const ModelId = Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,63}$/))

/** Definitions by key of the file, in the order of the reference page. `variableOf` returns the environment variable. */
export const definitions = {
  ...addressDefinitions,
  data_dir: {
    schema: Schema.NonEmptyString,
    default: "./data",
    expected: "a directory",
    about: "Directory of stored files and of the embedded database, which one process at a time can open."
  },
  ...databaseDefinitions,
  clock_skew_seconds: {
    schema: between(1, 60),
    default: "2",
    expected: "a number of seconds from 1 to 60",
    about:
      "Difference in seconds between the clock of the process and that of Postgres above which the process does not start."
  },
  sweep_seconds: {
    schema: between(10, 86_400),
    default: "300",
    expected: "a number of seconds from 10 to 86400",
    about: "Seconds after which work on one set of expired or old rows is interrupted, to be tried again later."
  },
  storage_silence_seconds: {
    schema: between(1, 3_600),
    default: "30",
    expected: "a number of seconds from 1 to 3600",
    about: "Seconds without progress after which reading or writing a stored file fails."
  },
  partial_file_age_hours: {
    schema: between(1, 8_760),
    default: "24",
    expected: "a number of hours from 1 to 8760",
    about: "Hours after their last write after which partial files of killed processes are deleted."
  },
  partial_file_interval_minutes: {
    schema: between(1, 10_080),
    default: "60",
    expected: "a number of minutes from 1 to 10080",
    about: "Minutes between two searches for partial files of killed processes."
  },
  workers: {
    schema: between(0, 256),
    default: "4",
    expected: "a number of jobs from 0 to 256",
    about: "Jobs that this process runs at once; 0 if other processes run them."
  },
  worker_reserved: {
    schema: between(0, 255),
    default: "1",
    expected: "a number of jobs from 0 to 255",
    about:
      "Of the jobs that this process runs at once, the number that one account leaves to other accounts, also while they have none. An account can always run one."
  },
  worker_models: {
    schema: listOf(ModelId),
    default: undefined,
    expected: "ids of models, separated by commas",
    about: "Models whose jobs this process runs, separated by commas. If unset, all models of its configuration.",
    isList: true
  },
  job_lease_seconds: {
    schema: between(2, 3_600),
    default: "8",
    expected: "a number of seconds from 2 to 3600",
    about: "Seconds after which other processes take over the jobs of a process that was lost."
  },
  job_grace_seconds: {
    schema: between(0, 3_600),
    default: "30",
    expected: "a number of seconds from 0 to 3600",
    about: "Seconds that running jobs have to finish when the process stops, before other processes continue them."
  },
  ...mediaDefinitions,
  url_signing_keys: {
    schema: listOf(Secret),
    default: undefined,
    expected: "secrets of at least 32 characters, separated by commas",
    about:
      "Secrets that sign content URLs, separated by commas: the first signs, all verify. If unset, one is generated and stored in the data directory.",
    isSecret: true,
    isList: true
  },
  webhook_keys: {
    schema: listOf(Secret),
    default: undefined,
    expected: "secrets of at least 32 characters, separated by commas",
    about:
      "Secrets that encrypt the secrets of webhook endpoints, separated by commas: the first encrypts, all decrypt. If unset, one is generated and stored in the data directory.",
    isSecret: true,
    isList: true
  },
  webhook_sends: {
    schema: between(0, 4_096),
    default: "256",
    expected: "a number of sends from 0 to 4096",
    about: "Webhooks that this process sends at once; 0 if other processes send them."
  },
  webhook_own_domains: {
    schema: listOf(HostName),
    default: undefined,
    expected: "host names such as example.com, separated by commas, without scheme, port or path",
    about:
      "Domains of this service, separated by commas. No webhook is sent to them or to names below them. The host of base_url is always included.",
    isList: true
  },
  webhook_own_addresses: {
    schema: Schema.Literals(["true", "false"]),
    default: "true",
    expected: "true or false",
    about: "Whether webhooks to the addresses of these domains are rejected; false behind a content-delivery network."
  },
  webhook_allowed_networks: {
    schema: listOf(Network),
    default: undefined,
    expected: "networks such as 10.20.0.0/16, or addresses, separated by commas",
    about:
      "Private networks and addresses that webhooks can be sent to, separated by commas. Their receivers can use HTTP and any port. An address of this machine must be listed by itself.",
    isList: true
  },
  webhook_allow_private: {
    schema: Schema.Literals(["true", "false"]),
    default: "false",
    expected: "true or false",
    about: "Whether webhooks can use HTTP, any port and private addresses. For development and tests only."
  },
  admin_token: {
    schema: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{32,512}$/)),
    default: undefined,
    expected: "a secret of 32 to 512 ASCII characters without spaces",
    about: "Token of the operator API. If unset, the operator API is disabled.",
    isSecret: true
  },
  demo_account: {
    schema: Schema.Literals(["true", "false"]),
    default: undefined,
    expected: "true or false",
    about:
      "Whether a server creates the demo account in a database that has none, and prints its key. If unset, only with the embedded database and if `host` is a loopback address."
  },
  ...consoleDefinitions,
  ...paymentDefinitions,
  results_ttl_hours: {
    schema: between(1, 8_760),
    default: "24",
    expected: "a number of hours from 1 to 8760",
    about: "Hours after completion during which a result can be downloaded."
  },
  ...retentionDefinitions,
  download_gib_per_day: {
    schema: between(1, 1_000_000),
    default: "50",
    expected: "a number of GiB from 1 to 1000000",
    about: "GiB that an account can download per UTC day."
  },
  download_link_percent: {
    schema: between(1, 100),
    default: "50",
    expected: "a percentage from 1 to 100",
    about: "Percentage of these GiB that can be downloaded through signed URLs."
  },
  download_multiple: {
    schema: between(1, 1_000),
    default: "10",
    expected: "a number from 1 to 1000",
    about: "How many times its size each result can be downloaded per UTC day."
  },
  download_streams: {
    schema: between(1, 1_000),
    default: "8",
    expected: "a number of downloads from 1 to 1000",
    about: "Results that an account can download at once with its keys, and as many through signed URLs."
  },
  download_pictures: {
    schema: between(1, 10_000),
    default: "200",
    expected: "a number of downloads from 1 to 10000",
    about:
      "Thumbnails, previews and posters that an account can download at once, with its keys and through signed URLs."
  },
  uploads_per_account: {
    schema: between(1, 1_000_000),
    default: "1000",
    expected: "a number of uploads from 1 to 1000000",
    about: "Usable uploads that an account can have."
  },
  upload_mib_per_account: {
    schema: between(1, 1_000_000),
    default: "1024",
    expected: "a number of MiB from 1 to 1000000",
    about: "MiB that the usable uploads of an account can have together, as they are stored."
  },
  ...requestDefinitions,
  drain_seconds: {
    schema: between(0, 300),
    default: "0",
    expected: "a number of seconds from 0 to 300",
    about: "Seconds that a stopping server continues to accept requests while /readyz returns 503."
  },
  request_grace_seconds: {
    schema: between(0, 3_600),
    default: "25",
    expected: "a number of seconds from 0 to 3600",
    about: "Seconds that open requests have to end when the server stops, before their connections are closed."
  },
  readiness_seconds: {
    // Less than `kinora doctor` waits.
    schema: between(1, 10),
    default: "2",
    expected: "a number of seconds from 1 to 10",
    about: "Seconds in which the database and the file storage have to respond to a check of /readyz."
  },
  metrics: {
    schema: Schema.Literals(["true", "false"]),
    default: "true",
    expected: "true or false",
    about: "Whether a server exposes /metrics, which needs no key; if false, it returns 404."
  },
  log_level: {
    schema: LogLevel,
    default: "info",
    expected: "one of trace, debug, info, warn, error, none",
    about: "Lowest level that is logged."
  }
} as const satisfies Readonly<Record<string, Definition>>

/** Keys of the file that have their own schema and no environment variable. */
export const fileKeys = ["drivers", "models", "moderation", "oidc", "plans"] as const

/** Definition of a setting. */
export interface Definition {
  /** Decodes the text of the variable. */
  readonly schema: Schema.ConstraintDecoder<unknown>
  /** Text of the default. If `undefined`, the setting may be unset. */
  readonly default: string | undefined
  /** Description of valid values, for error messages. */
  readonly expected: string
  /** Documentation. */
  readonly about: string
  /** If `true`, messages never contain the value. */
  readonly isSecret?: boolean
  /** If `true`, the file may contain a list. */
  readonly isList?: boolean
}

/** The key of a setting. */
export type Key = keyof typeof definitions

/** Values of all settings. Those without a default may be `undefined`. */
export type Values = {
  readonly [K in Key]: (typeof definitions)[K]["schema"]["Type"] | ((typeof definitions)[K]["default"] & undefined)
}

/** Returns the environment variable of a setting. */
export const variableOf = (key: string): string => `KINORA_${key.toUpperCase()}`
