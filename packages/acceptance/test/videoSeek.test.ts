/** A video of a job in the `<video>` element of a real browser. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import type { Page } from "playwright-core"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Browser from "./browser.ts"
import * as Video from "./video.ts"

describe("a browser", { timeout: 600_000 }, () => {
  it.live("plays and seeks a result by its signed URL, on a page of another origin", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const file = yield* Video.make
      const files = { video: { mime: "video/mp4", bytes: file } } as const
      const host = LocalHost.layer({ models: FileGenerator.models(files), generator: FileGenerator.layer(files) })
      yield* Effect.provide(seekResult(Browser.path, file.length), yield* Layer.build(host))
    }))
})

const seekResult = Effect.fnUntraced(function*(browser: string, bytes: number) {
  const { key } = yield* Books.openAccount({ credits: 1 })
  const client = Client.make(yield* LocalHost.baseUrl, key)
  const { id } = Client.jobOf(yield* client.create({ model: "video" }))
  const { output } = yield* client.awaitEnd(id)
  assert.strictEqual(output?.bytes, bytes)

  const url = output?.url ?? ""
  const { answers, page } = yield* Browser.openPage(browser, pageOf(url), url)
  const loaded = yield* see(page, "loaded")
  assert.closeTo(loaded.duration, Video.duration, 1)
  for (const at of [Video.duration / 2, Video.duration - 2, 5]) {
    const seen = yield* see(page, `seekTo(${at})`)
    assert.closeTo(seen.currentTime, at, 0.3)
    assert.closeTo(seen.brightness, Video.brightnessAt(at), 8, `the picture at ${at} s`)
  }
  for (const { contentRange, status } of answers) {
    assert.strictEqual(status, 206)
    assert.match(contentRange, new RegExp(`^bytes \\d+-${bytes - 1}/${bytes}$`))
  }
  // The start, the index at the end, and the positions of the seeks. The browser did not read the whole file before.
  const starts = new Set(answers.map(({ contentRange }) => contentRange))
  assert.isAtLeast(starts.size, 4, [...starts].join())
})

/** State of the page. */
const Seen = Schema.Struct({ currentTime: Schema.Number, duration: Schema.Number, brightness: Schema.Number })

const see = (page: Page, expression: string) =>
  Effect.promise(() => page.evaluate(expression)).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Seen)), Effect.orDie)

/** `crossorigin` permits reading a canvas on which the video was drawn. */
const pageOf = (url: string) =>
  `<!doctype html>
<video crossorigin="anonymous" preload="metadata" muted src="${url.replaceAll("&", "&amp;")}"></video>
<script>
  const video = document.querySelector("video")
  const canvas = new OffscreenCanvas(32, 24)
  const context = canvas.getContext("2d")
  const see = () => {
    context.drawImage(video, 0, 0, 32, 24)
    const pixels = context.getImageData(0, 0, 32, 24).data.filter((_, n) => n % 4 === 0)
    const brightness = pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length
    return { currentTime: video.currentTime, duration: video.duration, brightness }
  }
  const happens = (event) => new Promise((resolve, reject) => {
    video.addEventListener(event, () => resolve(see()), { once: true })
    video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true })
  })
  const loaded = happens("loadeddata")
  const seekTo = (seconds) => {
    const seeked = happens("seeked")
    video.currentTime = seconds
    return seeked
  }
</script>`
