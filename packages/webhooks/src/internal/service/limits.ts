/** Limits of `Webhooks` with their defaults. */
import { Duration } from "effect"

/** Options for `Webhooks`. */
export interface WebhooksOptions {
  /** Endpoints per account. Default 5. */
  readonly endpointsMax?: number | undefined
  /** Types in the filter of an endpoint. Default 32. */
  readonly typesMax?: number | undefined
  /** Longest overlap of a rotation. Default 24 hours. */
  readonly overlapMax?: Duration.Input | undefined
  /** Active secrets of an endpoint. Default 5. */
  readonly secretsMax?: number | undefined
  /** Bytes of an event's `data` as JSON. A larger event is a defect that rolls back its unit of work. Default 1 MiB. */
  readonly dataBytesMax?: number | undefined
  /** Lines in the log of an endpoint. Default 20. */
  readonly sendsKept?: number | undefined
  /** Deliveries that `history` returns, and sends. Default 100 each. */
  readonly historyMax?: number | undefined
  /** Pending deliveries of an account up to which `resendFailed` restarts failed ones. Default 1,000. */
  readonly resendMax?: number | undefined
  /** How long ended deliveries are kept and can be resent, since they were published or last resent. Default 7 days. */
  readonly keepFor?: Duration.Input | undefined
  /** How long a delivery may be pending before it fails. Default 3 days. */
  readonly pendingMax?: Duration.Input | undefined
  /**
   * How long every send of an endpoint must have failed until `disableFailing` disables it, for example 5 days. Default: it
   * disables none.
   */
  readonly disableAfter?: Duration.Input | undefined
}

/** Limits of `Webhooks`. */
export interface Limits {
  readonly endpointsMax: number
  readonly typesMax: number
  readonly overlapMax: Duration.Duration
  readonly secretsMax: number
  readonly dataBytesMax: number
  readonly sendsKept: number
  readonly historyMax: number
  readonly resendMax: number
  readonly keepFor: Duration.Duration
  readonly pendingMax: Duration.Duration
  readonly disableAfter: Duration.Duration
}

/** Fills in the defaults. */
export const of = ({
  dataBytesMax = 1024 ** 2,
  disableAfter = "Infinity",
  endpointsMax = 5,
  historyMax = 100,
  keepFor = "7 days",
  overlapMax = "24 hours",
  pendingMax = "3 days",
  resendMax = 1_000,
  secretsMax = 5,
  sendsKept = 20,
  typesMax = 32
}: WebhooksOptions): Limits => ({
  endpointsMax,
  typesMax,
  overlapMax: Duration.fromInputUnsafe(overlapMax),
  secretsMax,
  dataBytesMax,
  sendsKept,
  historyMax,
  resendMax,
  keepFor: Duration.fromInputUnsafe(keepFor),
  pendingMax: Duration.fromInputUnsafe(pendingMax),
  disableAfter: Duration.fromInputUnsafe(disableAfter)
})
