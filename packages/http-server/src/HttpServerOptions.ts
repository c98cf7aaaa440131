/** Options of the HTTP server. Every option has a default. */
import { PlanTable } from "@kinora/accounts"
import { Duration, Effect, type FileSystem, type Path, type Redacted } from "effect"
import type { Etag, HttpPlatform, HttpRouter } from "effect/http"
import type { IpNetwork } from "effect/net"

/** The services that the routes need from the platform. `HttpServer.layerServices` and every server provide them. */
export type ServerRequirements =
  | HttpRouter.HttpRouter
  | Etag.Generator
  | FileSystem.FileSystem
  | HttpPlatform.HttpPlatform
  | Path.Path

/** A setting, for operators. */
export interface ShownSetting {
  readonly variable: string
  /** `null` if the setting has none. */
  readonly value: string | null
  /** Where the value comes from. */
  readonly source: string
}

/** The space on a disk. */
export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** Options of the HTTP server. */
export interface HttpServerOptions {
  /**
   * Time until the head of a response. Afterwards the response is 503. Not counted: waiting
   * for a job, receiving a body, parsing a large one, decoding and moderating images.
   * Default 5 seconds.
   */
  readonly requestTime: Duration.Duration
  /**
   * Requests that this process handles at the same time, without those whose time does not
   * count. Further ones get 503 immediately, except for `/healthz`, `/readyz` and
   * `/metrics`. An account can have as many of them as are free, so at most half. Default 512.
   */
  readonly requestsMax: number
  /**
   * `{base_url}` of `Location`, `output.url` and other links, without a trailing slash.
   * If `undefined`, links are on the origin that the client used. Default `undefined`.
   */
  readonly baseUrl: string | undefined
  /** The limits of each tier. Default: `PlanTable.defaults`. */
  readonly plans: PlanTable.PlanTable
  /** Requests of one key per minute, over all endpoints. Default 300. */
  readonly keyRequestsPerMinute: number
  /** Failed authentications of one address per minute. Default 60. */
  readonly failedAuthenticationsPerMinute: number
  /** Concurrent requests with `wait` and event streams of one key. Default 20. */
  readonly longPollsMax: number
  /** The same of one account with all of its keys and sessions. Default 200. */
  readonly accountLongPollsMax: number
  /** The longest silence of an event stream before a comment keeps it open. Default 15 seconds. */
  readonly eventsHeartbeat: Duration.Duration
  /** How long an event stream of all jobs of an account lasts before the client connects again. Default 5 minutes. */
  readonly accountEventsTime: Duration.Duration
  /**
   * How long the image endpoint waits for the image before it responds with 504. Must be
   * shorter than the 120 seconds during which a repeated request finds its job. Default
   * 50 seconds.
   */
  readonly imageWait: Duration.Duration
  /**
   * Concurrent requests of the image endpoint of one key that wait for an image or
   * receive one. Further requests get 504 at once. Default 40, as many jobs as the
   * largest tiers can run.
   */
  readonly imageWaitsMax: number
  /** The same of one account with all of its keys and sessions. Default 400. */
  readonly accountImageWaitsMax: number
  /**
   * How long after completion a result can be downloaded. Must be the same as the
   * worker's; the API only reports it, in whole hours. Default 24 hours.
   */
  readonly resultTtl: Duration.Duration
  /** Concurrent downloads of results of one account with its keys, and as many through signed URLs. Default 8. */
  readonly downloadStreamsMax: number
  /**
   * Concurrent downloads of thumbnails, previews and posters of one account with its keys, and as many through signed
   * URLs. A gallery requests one for each job on the page. Default 200.
   */
  readonly downloadPicturesMax: number
  /** Bytes that one account can download per UTC day. Default 50 GiB. */
  readonly downloadBytesPerDay: number
  /** Share of these bytes that signed URLs can use, above 0 and at most 1. Default 0.5. */
  readonly downloadLinkShare: number
  /** How many times its size one result can be downloaded per UTC day. Default 10. */
  readonly resultDownloadMultiple: number
  /**
   * Bytes that a download reserves at a time. A killed process leaves at most one block
   * per download counted; smaller blocks cost more statements. Default 16 MiB.
   */
  readonly downloadBlockBytes: number
  /** Rows of a usage report by API key. A report that would have more is rejected. Default 10,000. */
  readonly usageRowsMax: number
  /** Bytes of a body that creates a job. Default 48 MiB. */
  readonly creatingBodyBytesMax: number
  /**
   * Bytes of a string in such a body, such as an image in base64. It bounds the time for which one string occupies the
   * process. Default 16 MiB, which takes about ten milliseconds.
   */
  readonly bodyStringBytesMax: number
  /** Bytes of an uploaded image. Default 10 MiB. */
  readonly uploadBytesMax: number
  /** Uploads that this process decodes concurrently, at most a quarter of them of one account. Default 8. */
  readonly uploadsMax: number
  /** Bytes of any other body. Default 1 MiB. */
  readonly bodyBytesMax: number
  /**
   * The maximum weight of a JSON body that creates a job: its bytes, of which each string
   * that is not a property name counts at most 256. It bounds the time for parsing and validation. Default 16 KiB,
   * which takes at most a tenth of a second.
   */
  readonly bodyStructureMax: number
  /**
   * Bytes of large request bodies that this process holds, at most a quarter of them of
   * one account. Bytes count when they arrive. Parsing takes about twice as much in
   * addition. Further requests wait for `crowdedWait`. Default 256 MiB.
   */
  readonly bodiesBytesMax: number
  /**
   * Bytes of all other request bodies that arrive at this process at the same time: of
   * authenticated requests, at most a quarter of them of one account or operator, and as
   * many of other requests, at most a quarter of them from one client address (IPv6: from
   * one /48). Each body counts with its declared length, or else with the most that it can
   * have, and with at least 16 KiB. Further requests wait for `crowdedWait`. Default 16 MiB.
   */
  readonly smallBodiesBytesMax: number
  /**
   * Time in which a body that creates a job has to arrive. Afterwards the response is 408.
   * Default 30 seconds.
   */
  readonly bodyTimeMax: Duration.Duration
  /**
   * Bytes per second that a client has to send of a body that creates a job, and of an
   * upload, and to receive of a response. Default 16 KiB.
   */
  readonly transferRateMin: number
  /**
   * How long a client can fall behind this rate with a body, and the time in which any
   * other body has to arrive, before the response is 408. Default 10 seconds.
   */
  readonly bodyStallMax: Duration.Duration
  /** How long a client can fall behind this rate with a response before its connection is closed. Default 30 seconds. */
  readonly responseStallMax: Duration.Duration
  /**
   * How long a request waits for memory for its body, and an upload for its turn, before
   * the response is 503. Default 5 seconds.
   */
  readonly crowdedWait: Duration.Duration
  /**
   * Networks of trusted proxies. `X-Forwarded-For`, `-Host` and `-Proto` are ignored from
   * all other addresses. Default: none.
   */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /**
   * Header, in lower case, in which a trusted proxy sends the e-mail address of the person whom it has authenticated.
   * The proxy must replace the header of the client. Default `undefined`: none.
   */
  readonly proxyUserHeader: string | undefined
  /**
   * Origins whose scripts can call `/v1` from a browser, such as `https://app.example.com`;
   * `*` for every origin. Files can be read from every origin anyway. Default: none.
   */
  readonly corsOrigins: ReadonlyArray<string>
  /** Whether to serve the API reference at `/docs`. Default `true`. */
  readonly docs: boolean
  /** Directory of the built API reference. If `undefined`, `/docs` is 503. Default `undefined`. */
  readonly docsDirectory: string | undefined
  /** Whether to serve the console and its API, and to accept sessions. Default `true`. */
  readonly console: boolean
  /** Directory of the built console. If `undefined`, its pages are 503. Default `undefined`. */
  readonly consoleDirectory: string | undefined
  /**
   * Origin of the console for members of accounts, in sign-in links. If `undefined`, `baseUrl`, or else the origin that
   * the operator used. Default `undefined`.
   */
  readonly consoleUrl: string | undefined
  /** The settings that the operator API shows. They must contain no secret. Default: none. */
  readonly configuration: ReadonlyArray<ShownSetting>
  /** Returns the space on the disk that the operator API shows; `undefined` if it is unknown. Default: unknown. */
  readonly disk: Effect.Effect<DiskSpace | undefined>
  /** Whether to serve `/metrics`. Default `true`. */
  readonly metrics: boolean
  /** The operator's token. If `undefined`, the operator API is disabled. Default `undefined`. */
  readonly adminToken: Redacted.Redacted | undefined
  /**
   * Whether the listener for clients also serves `/readyz`, `/metrics` and the operator
   * API. `false` if `OperatorRoutes` serves them on a listener of their own, or nothing
   * does. Default `true`.
   */
  readonly operatorRoutes: boolean
}

/** The default options. */
export const defaults: HttpServerOptions = {
  requestTime: Duration.seconds(5),
  requestsMax: 512,
  baseUrl: undefined,
  plans: PlanTable.defaults,
  keyRequestsPerMinute: 300,
  failedAuthenticationsPerMinute: 60,
  longPollsMax: 20,
  accountLongPollsMax: 200,
  eventsHeartbeat: Duration.seconds(15),
  accountEventsTime: Duration.minutes(5),
  imageWait: Duration.seconds(50),
  imageWaitsMax: 40,
  accountImageWaitsMax: 400,
  resultTtl: Duration.hours(24),
  downloadStreamsMax: 8,
  downloadPicturesMax: 200,
  downloadBytesPerDay: 50 * 1024 ** 3,
  downloadLinkShare: 0.5,
  resultDownloadMultiple: 10,
  downloadBlockBytes: 16 * 1024 ** 2,
  usageRowsMax: 10_000,
  creatingBodyBytesMax: 48 * 1024 * 1024,
  bodyStringBytesMax: 16 * 1024 * 1024,
  uploadBytesMax: 10 * 1024 * 1024,
  uploadsMax: 8,
  bodyBytesMax: 1024 * 1024,
  bodyStructureMax: 16 * 1024,
  bodiesBytesMax: 256 * 1024 * 1024,
  smallBodiesBytesMax: 16 * 1024 * 1024,
  bodyTimeMax: Duration.seconds(30),
  transferRateMin: 16 * 1024,
  bodyStallMax: Duration.seconds(10),
  responseStallMax: Duration.seconds(30),
  crowdedWait: Duration.seconds(5),
  trustedProxies: [],
  proxyUserHeader: undefined,
  corsOrigins: [],
  docs: true,
  docsDirectory: undefined,
  console: true,
  consoleDirectory: undefined,
  consoleUrl: undefined,
  configuration: [],
  disk: Effect.undefined,
  metrics: true,
  adminToken: undefined,
  operatorRoutes: true
}
