import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Model } from "@kinora/catalog"
import { ErrorCode } from "@kinora/http-api"
import { HttpServerOptions } from "@kinora/http-server"
import { Duration, Effect } from "effect"
import { readFile } from "node:fs/promises"
import * as Settings from "../src/Settings.ts"
import { code, rowsBelow } from "./MarkdownTable.ts"

const document = Effect.promise(() => readFile(new URL("../../../docs/reference/limits.md", import.meta.url), "utf8"))

const sections = ["## Requests", "## Jobs", "## Bodies and images", "## Downloads", "## Reports"]

const limits = Effect.map(document, (text) => sections.flatMap((section) => rowsBelow(text, section)))

/** Options of the HTTP server that limit nothing, or what no client can meet. */
type NoLimit =
  | "adminToken"
  | "baseUrl"
  | "docs"
  | "downloadBlockBytes"
  | "metrics"
  | "plans"
  | "trustedProxies"

const { defaults } = HttpServerOptions

const aMinute = (count: number) => `${count} a minute`
const bytes = (count: number) =>
  count % 1024 ** 3 === 0
    ? `${count / 1024 ** 3} GiB`
    : count % 1024 ** 2 === 0
    ? `${count / 1024 ** 2} MiB`
    : `${count / 1024} KiB`
const hours = (duration: Duration.Duration) => `${Duration.toHours(duration)} hours`
const seconds = (duration: Duration.Duration) => `${Duration.toSeconds(duration)} seconds`

/** Every limit of the HTTP server: what the page calls it, and how much it is by default. */
const ofServer: Record<Exclude<keyof HttpServerOptions.HttpServerOptions, NoLimit>, readonly [string, string]> = {
  keyRequestsPerMinute: ["requests of an API key, all endpoints together", aMinute(defaults.keyRequestsPerMinute)],
  failedAuthenticationsPerMinute: [
    "failed authentications of an address; of IPv6, of its /64",
    aMinute(defaults.failedAuthenticationsPerMinute)
  ],
  longPollsMax: ["requests with `wait`, and event streams, of a key at the same time", String(defaults.longPollsMax)],
  eventsHeartbeat: ["silence of an event stream", seconds(defaults.eventsHeartbeat)],
  imageWait: ["wait of the image endpoint", seconds(defaults.imageWait)],
  imageWaitsMax: [
    "requests of a key at the same time that wait for an image or are sent one",
    String(defaults.imageWaitsMax)
  ],
  resultTtl: ["time after completion", hours(defaults.resultTtl)],
  downloadStreamsMax: ["downloads of an account at the same time", String(defaults.downloadStreamsMax)],
  downloadBytesPerDay: ["bytes that an account downloads in a day", bytes(defaults.downloadBytesPerDay)],
  resultDownloadMultiple: ["bytes of one result in a day", `${defaults.resultDownloadMultiple} times its size`],
  creatingBodyBytesMax: ["body that creates a job", bytes(defaults.creatingBodyBytesMax)],
  bodyStructureMax: ["the same, without what its strings have beyond 256 bytes", bytes(defaults.bodyStructureMax)],
  uploadBytesMax: ["uploaded image", bytes(defaults.uploadBytesMax)],
  bodyBytesMax: ["any other body", bytes(defaults.bodyBytesMax)],
  bodiesBytesMax: ["bodies that a server holds at the same time", bytes(defaults.bodiesBytesMax)],
  uploadsMax: ["uploads that a server reads at the same time", String(defaults.uploadsMax)]
}

/** What the settings that limit clients are called, by the first words of the page. */
const settings: Readonly<Record<string, string>> = {
  results_ttl_hours: "time after completion",
  download_gib_per_day: "bytes that an account downloads in a day",
  download_multiple: "bytes of one result in a day",
  download_streams: "downloads of an account at the same time",
  image_wait_seconds: "wait of the image endpoint"
}

describe("docs/reference/limits.md", () => {
  it.effect("shows every limit of the HTTP server as it is by default", () =>
    Effect.gen(function*() {
      const shown = new Map((yield* limits).map(([what, limit]) => [what, limit]))
      for (const [what, limit] of Object.values(ofServer)) assert.strictEqual(shown.get(what), limit, what)
    }))

  it.effect("names the setting of each limit that has one", () =>
    Effect.gen(function*() {
      const named = new Map((yield* limits).map(([what, , setting]) => [setting, what]))
      for (const { key } of Settings.docs) assert.strictEqual(named.get(code(key)), settings[key], key)
      // The others are of a plan or of a model.
      const others = [...named.keys()].filter((name) => !Object.keys(settings).map(code).includes(name ?? ""))
      const known = [
        "",
        code("plans"),
        code("time_limit") + " of the model",
        ...Object.keys(Model.Model.fields).map(code)
      ]
      for (const name of others) assert.include(known, name)
    }))

  it.effect("shows what each tier may do (D25)", () =>
    Effect.gen(function*() {
      const { credits, free, studio } = PlanTable.defaults
      assert.deepStrictEqual(rowsBelow(yield* document, "## Plans"), [
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
      ])
    }))

  it.effect("gives every code the status that it has (D40)", () =>
    Effect.gen(function*() {
      const statuses: Readonly<Record<string, { readonly status: number }>> = ErrorCode.table
      const said = Array.from(
        (yield* document).matchAll(/\b(\d{3}) `(\w+)`/g),
        ([, status, name = ""]) => [name, Number(status)]
      )
      assert.isAbove(said.length, 20)
      assert.deepStrictEqual(said, said.map(([name]) => [name, statuses[name ?? ""]?.status]))
    }))
})
