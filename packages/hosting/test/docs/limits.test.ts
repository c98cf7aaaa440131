import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { GenerationStore } from "@kinora/generations"
import { ErrorCode } from "@kinora/http-api"
import { HttpServerOptions } from "@kinora/http-server"
import { Payments } from "@kinora/payments"
import { Retry } from "@kinora/webhooks"
import { Duration, Effect } from "effect"
import * as NodeServer from "../../src/internal/nodeServer.ts"
import { waitingBytesMax } from "../../src/internal/orderedServer.ts"
import * as Settings from "../../src/Settings.ts"
import { code, expectTables, read, type Table } from "./Page.ts"

const page = "reference/limits.md"

/** A limit as the page shows it. */
type Row = readonly [what: string, limit: string, setting: string, whenExceeded: string]

/** Options of the HTTP server that limit no client. */
type NoLimit =
  | "operatorRoutes"
  | "adminToken"
  | "baseUrl"
  | "console"
  | "configuration"
  | "consoleUrl"
  | "disk"
  | "consoleDirectory"
  | "docs"
  | "docsDirectory"
  | "downloadBlockBytes"
  | "corsOrigins"
  | "metrics"
  | "plans"
  | "proxyUserHeader"
  | "trustedProxies"

const { defaults } = HttpServerOptions

const perMinute = (count: number) => `${count} per minute`
const bytes = (count: number) =>
  count % 1024 ** 3 === 0
    ? `${count / 1024 ** 3} GiB`
    : count % 1024 ** 2 === 0
    ? `${count / 1024 ** 2} MiB`
    : `${count / 1024} KiB`
const hours = (duration: Duration.Duration) => `${Duration.toHours(duration)} hours`
const count = (number: number) => number.toLocaleString("en-US")
const seconds = (duration: Duration.Duration) => `${Duration.toSeconds(duration)} seconds`

/** A limit that no setting changes. */
const fixed = (what: string, limit: string, whenExceeded: string): Row => [what, limit, "", whenExceeded]

/** The limits of the HTTP server, by option. */
const server: Readonly<Record<Exclude<keyof HttpServerOptions.HttpServerOptions, NoLimit>, Row>> = {
  requestTime: [
    "time for a request, without the waits that this page lists and without bodies and images",
    seconds(defaults.requestTime),
    "request_seconds",
    "503 `unavailable`"
  ],
  requestsMax: [
    "requests that a server handles at a time, without those that wait or whose body arrives",
    String(defaults.requestsMax),
    "max_requests",
    "503 `unavailable`"
  ],
  keyRequestsPerMinute: fixed(
    "requests per API key or session, all endpoints together",
    perMinute(defaults.keyRequestsPerMinute),
    "429 `rate_limited`, `details.scope` `key`"
  ),
  failedAuthenticationsPerMinute: fixed(
    "failed authentications per address (IPv6: per /64)",
    perMinute(defaults.failedAuthenticationsPerMinute),
    "429 `rate_limited`, `details.scope` `auth`; requests with a valid key are never rejected for it"
  ),
  longPollsMax: fixed(
    "concurrent requests with `wait` and event streams per key or session",
    String(defaults.longPollsMax),
    "returns at once with the current state"
  ),
  accountLongPollsMax: fixed(
    "the same per account, with all of its keys and sessions",
    String(defaults.accountLongPollsMax),
    "returns at once with the current state"
  ),
  eventsHeartbeat: fixed(
    "silence of an event stream",
    seconds(defaults.eventsHeartbeat),
    "a comment is sent, to keep proxies from closing the connection"
  ),
  accountEventsTime: fixed(
    "duration of an event stream of all jobs of an account",
    `${Duration.toMinutes(defaults.accountEventsTime)} minutes`,
    "the stream ends, and the browser connects again"
  ),
  imageWait: [
    "wait of the image endpoint",
    seconds(defaults.imageWait),
    "image_wait_seconds",
    "504 `generation_pending`; the same request again waits for the same job"
  ],
  imageWaitsMax: fixed(
    "concurrent requests per key that wait for an image or receive one",
    String(defaults.imageWaitsMax),
    "504 `generation_pending` at once"
  ),
  accountImageWaitsMax: fixed(
    "the same per account, with all of its keys and sessions",
    String(defaults.accountImageWaitsMax),
    "504 `generation_pending` at once"
  ),
  creatingBodyBytesMax: fixed(
    "body that creates a job",
    bytes(defaults.creatingBodyBytesMax),
    "413 `payload_too_large`"
  ),
  bodyStringBytesMax: fixed(
    "string in such a body",
    bytes(defaults.bodyStringBytesMax),
    "413 `payload_too_large`"
  ),
  bodyStructureMax: fixed(
    "body that creates a job, counting at most 256 bytes of each string value",
    bytes(defaults.bodyStructureMax),
    "400 `invalid_request`"
  ),
  uploadBytesMax: fixed("uploaded image", bytes(defaults.uploadBytesMax), "413 `payload_too_large`"),
  bodyBytesMax: fixed("any other body", bytes(defaults.bodyBytesMax), "413 `payload_too_large`"),
  bodiesBytesMax: fixed(
    "bodies that create a job and uploads that a server holds at a time, a quarter of it per account",
    bytes(defaults.bodiesBytesMax),
    "503 `unavailable`"
  ),
  smallBodiesBytesMax: [
    "all other bodies that arrive at a server at a time, each with at least 16 KiB, a quarter of it per account or " +
    "operator, or per client address (IPv6: per /48) without authentication",
    `${bytes(defaults.smallBodiesBytesMax)} with authentication, and as much without`,
    "small_bodies_mib",
    "503 `unavailable`"
  ],
  crowdedWait: fixed(
    "wait for room among these bodies, or for the turn of an upload",
    seconds(defaults.crowdedWait),
    "503 `unavailable`"
  ),
  bodyTimeMax: [
    "time in which a body that creates a job arrives",
    seconds(defaults.bodyTimeMax),
    "body_seconds",
    "408 `request_timeout`"
  ],
  transferRateMin: [
    "rate at which such a body and an upload arrive",
    `${bytes(defaults.transferRateMin)} per second`,
    "transfer_kib_per_second",
    "408 `request_timeout`"
  ],
  bodyStallMax: fixed(
    "time for which a client can fall behind this rate, and in which any other body arrives",
    seconds(defaults.bodyStallMax),
    "408 `request_timeout`"
  ),
  responseStallMax: [
    `time for which a client receives less than ${bytes(defaults.transferRateMin)} per second of a response`,
    seconds(defaults.responseStallMax),
    "response_stall_seconds",
    "the connection is closed"
  ],
  uploadsMax: fixed(
    "uploads that a server decodes at a time, a quarter of them per account",
    String(defaults.uploadsMax),
    "503 `unavailable`"
  ),
  resultTtl: [
    "download window after completion",
    hours(defaults.resultTtl),
    "results_ttl_hours",
    "410 `result_expired`; the file is deleted"
  ],
  downloadPicturesMax: [
    "the same of thumbnails, previews and posters",
    String(defaults.downloadPicturesMax),
    "download_pictures",
    "429 `download_limited`, `details.scope` `streams`"
  ],
  downloadStreamsMax: [
    "concurrent downloads of results per account with keys, and as many through signed URLs",
    String(defaults.downloadStreamsMax),
    "download_streams",
    "429 `download_limited`, `details.scope` `streams`"
  ],
  downloadBytesPerDay: [
    "downloaded bytes per account and day",
    bytes(defaults.downloadBytesPerDay),
    "download_gib_per_day",
    "429 `download_limited`, `details.scope` `bytes`"
  ],
  downloadLinkShare: [
    "of these bytes, through signed URLs",
    `${defaults.downloadLinkShare * 100} %`,
    "download_link_percent",
    "429 `download_limited`, `details.scope` `bytes`"
  ],
  usageRowsMax: fixed("rows of a usage report by API key", "10,000", "400 `invalid_range`"),
  resultDownloadMultiple: [
    "downloaded bytes per result and day",
    `${defaults.resultDownloadMultiple} times its size`,
    "download_multiple",
    "429 `download_limited`, `details.scope` `downloads`"
  ]
}

const requests: ReadonlyArray<Row> = [
  server.keyRequestsPerMinute,
  [
    "creations per account and plan group, both creating endpoints together",
    "by tier",
    "plans",
    "429 `rate_limited`, `details.scope` `plan`; replays do not count"
  ],
  server.failedAuthenticationsPerMinute,
  server.longPollsMax,
  server.accountLongPollsMax,
  fixed("seconds of `wait`", "60", "treated as 60"),
  server.eventsHeartbeat,
  server.accountEventsTime,
  server.imageWait,
  server.imageWaitsMax,
  server.accountImageWaitsMax,
  server.requestTime,
  server.requestsMax,
  [
    "of these, requests of one account",
    "as many as are free, so at most half",
    "max_requests",
    "503 `unavailable`"
  ],
  [
    "connections of clients that a server keeps open",
    count(NodeServer.connectionsMax.clients),
    "max_connections",
    "the connection is closed without a response"
  ],
  [
    "the same per client address (IPv6: per /48), apart from trusted proxies",
    "a quarter of them",
    "max_connections_per_address",
    "the connection is closed without a response"
  ],
  fixed(
    "connections to a separate listener for operators",
    count(NodeServer.connectionsMax.operators),
    "the connection is closed without a response"
  ),
  fixed(
    "the same per client address (IPv6: per /48), apart from trusted proxies",
    count(NodeServer.addressMaxOf(NodeServer.connectionsMax.operators)),
    "the connection is closed without a response"
  ),
  fixed(
    "requests that wait on a connection, which are handled one after the other",
    count(NodeServer.waitingMax),
    "the connection is closed, and none of them is handled"
  ),
  fixed(
    "heads of these requests",
    bytes(waitingBytesMax),
    "the connection is closed, and none of them is handled"
  ),
  fixed(
    "time in which the header of a request arrives",
    seconds(Duration.millis(NodeServer.times.header)),
    "408 `request_timeout`, and the connection is closed"
  ),
  fixed(
    "time for which a connection stays open without a request",
    seconds(Duration.millis(NodeServer.times.idle)),
    "the connection is closed"
  ),
  server.responseStallMax,
  fixed(
    "written responses that clients have not received yet, of a server",
    bytes(NodeServer.receiving.bytesMax),
    "connections of the client address (IPv6: of the /48) that leaves the most are closed"
  ),
  fixed(
    "bytes of files and of larger bodies per account and turn of a server's event loop, within a second after another account was active",
    "32 KiB",
    "the next chunk waits for its turns, after those of the account's other transfers"
  ),
  fixed(
    "sessions of an API key, of a role of an account, or of an operator",
    "20",
    "the session that was not used for the longest time ends"
  ),
  fixed("valid sign-in links of a role of an account, or of an operator", "20", "409 `too_many_links`"),
  fixed("time for which a sign-in link works", "10 minutes", "401 `invalid_code`"),
  fixed("jobs per page", "100", "400 `invalid_params`"),
  fixed("jobs that a page with `model`, `key` or `q` reads", "1,000", "the page has fewer jobs, and a cursor"),
  fixed("characters of `q`", "100", "400 `invalid_params`"),
  fixed("days of a usage report", "31", "400 `invalid_range`"),
  server.usageRowsMax
]

const invalidResult = "the job fails with `upstream_error` and is refunded"

const jobs: ReadonlyArray<Row> = [
  ["`queued` and `processing` jobs per account and plan group", "by tier", "plans", "further jobs are `pending`"],
  fixed("`pending` jobs per account, both groups together", "20", "429 `queue_full`, `details.waiting_max`"),
  [
    "time for which a job is kept after its end",
    `${Settings.docs.find(({ key }) => key === "jobs_ttl_days")?.default ?? ""} days`,
    "jobs_ttl_days",
    "404 `not_found`"
  ],
  fixed("time until a job starts", "24 hours", "the job fails with `queue_timeout` and is refunded"),
  ["run time of a job", "by model", "models", "the job fails with `time_limit` and is refunded"],
  fixed(
    "starts of a job whose workers are lost; the last one alone",
    "3",
    "the job fails with `worker_lost` and is refunded"
  ),
  fixed("attempts of a job in its timeline", String(GenerationStore.attemptsKept), "the oldest ones are omitted"),
  fixed("webhook deliveries of a job that operators see, and their sends", "100 each", "the oldest ones are omitted"),
  ["size of a result", "2 GiB", "probe_mib", invalidResult],
  ["width and height of a result", "16,384 pixels", "probe_side_max", invalidResult],
  ["pixels of an image or a frame of a result", "134,217,728", "probe_pixels_max", invalidResult],
  ["duration of a video", "1 hour", "probe_duration_seconds", invalidResult],
  ["Unicode code points of a prompt", "by model", "models", "400 `invalid_params`"],
  ["input images per job", "by model", "models", "400 `invalid_params`"],
  fixed("characters of an `Idempotency-Key`", "255", "400 `invalid_idempotency_key`"),
  fixed("time for which a key is kept", "24 hours", "the key identifies a new request"),
  fixed("time for which a request without a key is matched", "120 seconds", "an identical request creates a new job"),
  fixed("wait for another process with the same key", "2 seconds", "409 `idempotency_in_progress`")
]

const bodies: ReadonlyArray<Row> = [
  server.creatingBodyBytesMax,
  server.bodyStringBytesMax,
  server.bodyStructureMax,
  server.uploadBytesMax,
  server.bodyBytesMax,
  server.bodiesBytesMax,
  server.smallBodiesBytesMax,
  server.uploadsMax,
  server.crowdedWait,
  server.bodyTimeMax,
  server.transferRateMin,
  server.bodyStallMax,
  fixed("input image, decoded from base64", "10 MiB", "400 `invalid_image`, `details.index`"),
  fixed("input image, re-encoded as stored", "64 MiB", "400 `invalid_image`, `details.index`"),
  fixed(
    "the same, if it is longer than 10 MiB",
    "4 times the length of the image",
    "400 `invalid_image`, `details.index`"
  ),
  fixed("pixels of an image", "40 megapixels", "400 `invalid_image`, `details.index`"),
  [
    "pixels of the input images of an account per minute; an upload counts again with each job if the service moderates",
    `${Settings.docs.find(({ key }) => key === "input_megapixels_per_minute")?.default ?? ""} megapixels`,
    "input_megapixels_per_minute",
    "429 `rate_limited`, `details.scope` `uploads`"
  ],
  [
    "input images that a process decodes at a time, half of them per account, and half of them of more than 16 megapixels",
    Settings.docs.find(({ key }) => key === "input_images")?.default ?? "",
    "input_images",
    "further images wait; accounts take turns"
  ],
  fixed("long side of an image", "8 times its short side", "400 `invalid_image`, `details.index`"),
  ["usable uploads per account", "1,000", "uploads_per_account", "429 `rate_limited`, `details.scope` `uploads`"],
  [
    "bytes of these together, as stored",
    "1 GiB",
    "upload_mib_per_account",
    "429 `rate_limited`, `details.scope` `uploads`"
  ],
  fixed("lifetime of an upload", "24 hours", "404 `upload_not_found`; jobs that were created with it keep it")
]

const downloads: ReadonlyArray<Row> = [
  server.resultTtl,
  server.downloadStreamsMax,
  server.downloadPicturesMax,
  server.downloadBytesPerDay,
  server.downloadLinkShare,
  server.resultDownloadMultiple
]

const webhooks: ReadonlyArray<Row> = [
  fixed("endpoints per account", "5", "409 `too_many_endpoints`"),
  fixed("characters of a URL", "2,048", "400 `invalid_webhook_url`"),
  fixed("time for a send, from the DNS lookup to the head of the response", "10 seconds", "failed send, `timeout`"),
  fixed("bytes of a response that are read", "64 KiB", "the rest is ignored"),
  fixed(
    `sends per delivery, retried ${Retry.defaultSchedule.map(Duration.toSeconds).join(", ")} seconds after a failure`,
    String(Retry.defaultSchedule.length + 1),
    "the delivery is `failed`; an operator can re-send it"
  ),
  fixed("time that a delivery waits behind others of its endpoint", "3 days", "the delivery is `failed`"),
  [
    "time that an ended delivery is kept",
    `${Settings.docs.find(({ key }) => key === "webhooks_ttl_days")?.default ?? ""} days`,
    "webhooks_ttl_days",
    "it cannot be re-sent"
  ],
  fixed("lifetime of the URLs in a body", "1 hour from the first send", "403 `signature_expired`; get the job"),
  fixed("age of a signature", "5 minutes", "receivers reject it"),
  fixed("overlap of a rotation", "24 hours", "400 `invalid_request`"),
  fixed("signing secrets per endpoint", "5", "409 `too_many_secrets`"),
  fixed("sends in the log of an endpoint", "20", "older ones are deleted"),
  [
    "concurrent sends per process",
    Settings.docs.find(({ key }) => key === "webhook_sends")?.default ?? "",
    "webhook_sends",
    "due deliveries wait"
  ],
  fixed("of these, to one endpoint", "16", "due deliveries wait"),
  fixed("of these, to the endpoints of one account", "48", "due deliveries wait"),
  fixed("of these, to endpoints whose last send failed or took over 2 seconds", "half", "due deliveries wait")
]

const tableOf = (rows: ReadonlyArray<Row>): Table => ({
  head: ["limit", "value", "setting", "when exceeded"],
  rows: rows.map(([what, limit, setting, whenExceeded]) => [what, limit, code(setting), whenExceeded])
})

const { credits, free, studio } = PlanTable.defaults

const plans: Table = {
  head: ["group", "tier", "creations per minute", "jobs at once", "per day", "per period"],
  rows: [
    ...Object.entries(studio).map(([tier, { concurrency, createRpm, quota }]) => [
      "studio",
      tier,
      String(createRpm),
      String(concurrency),
      `${quota.images} images, ${quota.videos} videos`,
      ""
    ]),
    ...Object.entries(credits).map(([tier, { concurrency, createRpm, credits }]) => [
      "credits",
      tier,
      String(createRpm),
      String(concurrency),
      "",
      `${credits} credits`
    ]),
    ["no plan", "free", String(free.createRpm), String(free.concurrency), "", ""]
  ]
}

const { centsMax, centsMin, openMax } = Payments.defaults

const payments: ReadonlyArray<Row> = [
  fixed(
    "amount of a checkout",
    `$${centsMin / 100} to $${(centsMax / 100).toLocaleString("en-US")}`,
    "400 `invalid_request`"
  ),
  fixed("open payments per account", String(openMax), "409 `too_many_payments`"),
  fixed("time in which a customer can pay", "24 hours", "the payment is `expired`"),
  fixed("age of the signature of a webhook of Stripe", "300 seconds", "400 `invalid_request`; Stripe repeats it"),
  fixed("bytes of a webhook of Stripe", "256 KiB", "413 `payload_too_large`"),
  [
    "time that an ended payment is kept",
    `${Settings.docs.find(({ key }) => key === "payments_ttl_days")?.default ?? ""} days`,
    "payments_ttl_days",
    "it is deleted; its deposit stays"
  ]
]

const all = [...requests, ...jobs, ...bodies, ...downloads, ...webhooks, ...payments]

describe("docs/reference/limits.md", () => {
  it.effect("lists every limit with its default", () =>
    expectTables(page, {
      requests: tableOf(requests),
      plans,
      jobs: tableOf(jobs),
      bodies: tableOf(bodies),
      downloads: tableOf(downloads),
      webhooks: tableOf(webhooks),
      payments: tableOf(payments)
    }))

  it("includes every limit of the HTTP server", () => {
    assert.includeMembers(all, Object.values(server))
  })

  it("names existing settings", () => {
    const keys = [...Settings.docs.map(({ key }) => key), "plans", "models"]
    assert.includeMembers(keys, all.flatMap(([, , setting]) => setting === "" ? [] : [setting]))
  })

  it.effect("pairs every code with its status", () =>
    Effect.gen(function*() {
      const statuses: Readonly<Record<string, { readonly status: number }>> = ErrorCode.table
      const pairs = Array.from((yield* read(page)).matchAll(/\b(\d{3}) `(\w+)`/g), ([, status, name = ""]) => ({
        name,
        status: Number(status)
      }))
      const shared = pairs.filter(({ name }) => name in statuses)
      assert.isAbove(shared.length, 20)
      for (const { name, status } of shared) assert.strictEqual(status, statuses[name]?.status, name)
    }))
})
