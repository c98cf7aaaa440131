/** A video of the default models, from a running server, in the `<video>` element of a real browser. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import * as Browser from "./browser.ts"
import { makeSite } from "./sites.ts"

/** Seconds. */
const duration = 2

describe("a browser", { timeout: 600_000 }, () => {
  it.live("shows the poster of a video, seeks in it by range requests, and plays it to its end", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const site = yield* makeSite("PGlite")
      const server = yield* Program.startServer(site.environment)
      const job = yield* makeVideo(Client.make(server.baseUrl, server.apiKey ?? assert.fail("no key was printed")))

      const { answers, page } = yield* Browser.openPage(Browser.path, pageOf(job), job.output.url)
      const see = (expression: string) =>
        Effect.promise(() => page.evaluate(expression)).pipe(
          Effect.flatMap(Schema.decodeUnknownEffect(Seen)),
          Effect.orDie
        )
      // Before the video is loaded, the element has the size of its poster.
      const { height, width } = yield* see("poster()")
      assert.deepStrictEqual([width, height], [854, 480])
      assert.lengthOf(answers, 0)

      const sought = yield* see("seekTo(1.5)")
      assert.closeTo(sought.currentTime, 1.5, 0.05)
      const back = yield* see("seekTo(0.1)")
      assert.closeTo(back.currentTime, 0.1, 0.05)
      const ended = yield* see("playToEnd()")
      assert.closeTo(ended.currentTime, duration, 0.1)
      assert.closeTo(ended.duration, duration, 0.1)
      assert.isAtLeast(ended.moments, 3, "the time did not advance in steps")
      assert.deepStrictEqual([ended.width, ended.height], [854, 480])
      assert.isAtLeast(answers.length, 1)
      for (const { status } of answers) assert.strictEqual(status, 206)
      yield* server.stop
    }))
})

/** State of the page: that of the video, or the size of its poster. */
const Seen = Schema.Struct({
  currentTime: Schema.Number,
  duration: Schema.Number,
  /** Distinct times that the page was notified of while it played. */
  moments: Schema.Number,
  width: Schema.Number,
  height: Schema.Number
})

const makeVideo = Effect.fnUntraced(function*(client: Client.Client) {
  const created = yield* client.request("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      plan: "studio",
      model: "kinora-motion",
      params: { prompt: "mountains at sunset beside a lake", resolution: "480p", duration }
    })
  })
  const job = yield* client.awaitEnd(Client.jobOf(created).id)
  assert.strictEqual(job.status, "completed")
  assert.isNotNull(job.output)
  assert.isNotNull(job.poster_url)
  return { output: job.output, poster: job.poster_url }
})

const pageOf = ({ output, poster }: { readonly output: { readonly url: string }; readonly poster: string }) =>
  `<!doctype html>
<video crossorigin="anonymous" preload="none" muted poster="${attribute(poster)}" src="${
    attribute(output.url)
  }"></video>
<script>
  const video = document.querySelector("video")
  const times = new Set()
  const see = () => ({
    currentTime: video.currentTime,
    duration: video.duration,
    moments: times.size,
    width: video.videoWidth,
    height: video.videoHeight
  })
  const happens = (event) => new Promise((resolve, reject) => {
    video.addEventListener(event, () => resolve(see()), { once: true })
    video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true })
  })
  const poster = async () => {
    const image = new Image()
    image.crossOrigin = "anonymous"
    image.src = video.poster
    await image.decode()
    for (let frame = 0; frame < 600 && video.clientWidth !== image.naturalWidth; frame++) {
      await new Promise(requestAnimationFrame)
    }
    return { currentTime: 0, duration: 0, moments: 0, width: video.clientWidth, height: video.clientHeight }
  }
  const seekTo = async (seconds) => {
    if (video.readyState === 0) {
      const loaded = happens("loadedmetadata")
      video.preload = "metadata"
      video.load()
      await loaded
    }
    const seeked = happens("seeked")
    video.currentTime = seconds
    return seeked
  }
  const playToEnd = async () => {
    const ended = happens("ended")
    const note = () => {
      times.add(video.currentTime)
      if (!video.ended) requestAnimationFrame(note)
    }
    await video.play()
    note()
    return ended
  }
</script>`

const attribute = (url: string) => url.replaceAll("&", "&amp;")
