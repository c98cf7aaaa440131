/** What hosts can tell the HTTP server. Everything has a default. */
import { PlanTable } from "@kinora/accounts"
import type { IpNetwork } from "effect/net"

/** See each member. */
export interface HttpServerOptions {
  /**
   * `{base_url}` of the interface, without a slash at its end: `Location`,
   * `output.url` and the other links are on it. `undefined`, the default: the origin
   * that the request came to (D26a).
   */
  readonly baseUrl: string | undefined
  /** What the tiers allow. Default: the table of the interface. */
  readonly plans: PlanTable.PlanTable
  /** Requests of one key per minute, all endpoints together. Default 300. */
  readonly keyRequestsPerMinute: number
  /** Failed authentications of one address per minute. Default 60. */
  readonly failedAuthenticationsPerMinute: number
  /** Requests with `wait` of one key at the same time. Default 20. */
  readonly longPollsMax: number
  /** Files that an account may download at the same time. Default 8 (D29). */
  readonly downloadStreamsMax: number
  /** Bytes that an account may download per UTC day. Default 50 GiB (D29). */
  readonly downloadBytesPerDay: number
  /** How many times its size may be downloaded of a result per UTC day. Default 10 (D29). */
  readonly resultDownloadMultiple: number
  /** Bytes of a body that creates a job. Default 48 MiB (D18). */
  readonly creatingBodyBytesMax: number
  /** Bytes of any other body. Default 1 MiB (D18). */
  readonly bodyBytesMax: number
  /**
   * Networks of the proxies in front: only their `X-Forwarded-For`, `-Host` and
   * `-Proto` count (D28). Default: none.
   */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Whether `/docs` shows the interface to people (D49). Default true. */
  readonly docs: boolean
}

/** The options when nothing is said. */
export const defaults: HttpServerOptions = {
  baseUrl: undefined,
  plans: PlanTable.defaults,
  keyRequestsPerMinute: 300,
  failedAuthenticationsPerMinute: 60,
  longPollsMax: 20,
  downloadStreamsMax: 8,
  downloadBytesPerDay: 50 * 1024 ** 3,
  resultDownloadMultiple: 10,
  creatingBodyBytesMax: 48 * 1024 * 1024,
  bodyBytesMax: 1024 * 1024,
  trustedProxies: [],
  docs: true
}
