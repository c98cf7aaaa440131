/** What hosts can tell the HTTP server. Everything has a default. */
import { PlanTable } from "@kinora/accounts"
import { Duration, type Redacted } from "effect"
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
  /** Requests with `wait`, and streams of events, of one key at the same time. Default 20 (D37, D39). */
  readonly longPollsMax: number
  /** How long a stream of events is silent at most, so that proxies keep it open. Default 15 seconds. */
  readonly eventsHeartbeat: Duration.Duration
  /**
   * How long the image endpoint waits for the image before it answers 504. Shorter than
   * the 120 seconds in which the retry is known by its body. Default 50 seconds (D20).
   */
  readonly imageWait: Duration.Duration
  /**
   * Requests of the image endpoint of one key that wait for an image or are sent one
   * at the same time; a further one is answered 504 at once. Default 40: as many jobs
   * as the largest tiers can have under way.
   */
  readonly imageWaitsMax: number
  /**
   * How long after completion a result can be downloaded, as the worker was told. Only
   * shown here, in whole hours: `results.api_ttl_hours`. Default 24 hours (D29).
   */
  readonly resultTtl: Duration.Duration
  /** Files that an account may download at the same time. Default 8 (D29). */
  readonly downloadStreamsMax: number
  /** Bytes that an account may download per UTC day. Default 50 GiB (D29). */
  readonly downloadBytesPerDay: number
  /** How many times its size may be downloaded of a result per UTC day. Default 10 (D29). */
  readonly resultDownloadMultiple: number
  /**
   * Bytes that a download sets aside at a time: what stays counted of each when its
   * process is killed, and a statement for each. Default 16 MiB.
   */
  readonly downloadBlockBytes: number
  /** Bytes of a body that creates a job. Default 48 MiB (D18). */
  readonly creatingBodyBytesMax: number
  /** Bytes of an uploaded image. Default 10 MiB (D18). */
  readonly uploadBytesMax: number
  /** Uploads that this process reads and decodes at the same time, half of them for one account. Default 8. */
  readonly uploadsMax: number
  /** Bytes of any other body. Default 1 MiB (D18). */
  readonly bodyBytesMax: number
  /**
   * Bytes of a JSON body that creates a job, of which a string counts for at most 256:
   * what takes time to parse and to check, whatever images and prompts it holds.
   * Default 16 KiB, which takes at worst a tenth of a second.
   */
  readonly bodyStructureMax: number
  /**
   * Bytes of bodies that this process holds at the same time, a quarter of them for one
   * account; parsing takes about twice as much again. More are answered 503. Default 512 MiB.
   */
  readonly bodiesBytesMax: number
  /**
   * Networks of the proxies in front: only their `X-Forwarded-For`, `-Host` and
   * `-Proto` count (D28). Default: none.
   */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Whether `/docs` shows the interface to people (D49). Default true. */
  readonly docs: boolean
  /** Whether `/metrics` tells what was counted (D49); it is not found otherwise. Default true. */
  readonly metrics: boolean
  /** The operators' token (D50). `undefined`, the default: there is no interface for operators. */
  readonly adminToken: Redacted.Redacted | undefined
}

/** The options when nothing is said. */
export const defaults: HttpServerOptions = {
  baseUrl: undefined,
  plans: PlanTable.defaults,
  keyRequestsPerMinute: 300,
  failedAuthenticationsPerMinute: 60,
  longPollsMax: 20,
  eventsHeartbeat: Duration.seconds(15),
  imageWait: Duration.seconds(50),
  imageWaitsMax: 40,
  resultTtl: Duration.hours(24),
  downloadStreamsMax: 8,
  downloadBytesPerDay: 50 * 1024 ** 3,
  resultDownloadMultiple: 10,
  downloadBlockBytes: 16 * 1024 ** 2,
  creatingBodyBytesMax: 48 * 1024 * 1024,
  uploadBytesMax: 10 * 1024 * 1024,
  uploadsMax: 8,
  bodyBytesMax: 1024 * 1024,
  bodyStructureMax: 16 * 1024,
  bodiesBytesMax: 512 * 1024 * 1024,
  trustedProxies: [],
  docs: true,
  metrics: true,
  adminToken: undefined
}
