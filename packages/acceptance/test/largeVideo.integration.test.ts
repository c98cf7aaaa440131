/** A video of 300 MB that an upstream returns: the worker stores and verifies it in parts. */
import { assert, it } from "@effect/vitest"
import { Generations } from "@kinora/generations"
import { isFinal } from "@kinora/generations/Generation"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Drill from "../src/Drill.ts"
import * as Peer from "../src/Peer.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as LargeVideo from "./largeVideo.ts"

const bytes = 300_000_000
const grownMax = 64 * 1024 ** 2

it.live(
  "a video of 300 MB increases the resident memory of its worker by less than 64 MiB",
  () =>
    Effect.gen(function*() {
      const site = yield* startUpstream
      const peer = yield* Layer.build(Peer.layer(site))
      const { id: account } = yield* Effect.provide(Books.openAccount({ credits: 10 }), peer)
      const run = Effect.fnUntraced(function*(length: number) {
        const generations = yield* Generations.Generations
        const { generation } = yield* Peer.create(account, { model: model.id, prompt: String(length) })
        const ended = yield* generations.wait(account, generation.id, "60 seconds").pipe(
          Effect.repeat({ until: ({ status }) => isFinal(status) })
        )
        assert.strictEqual(ended.output?.content.bytes, length)
      }, Effect.provide(peer))

      /** Growth of a new worker during the job, in bytes. */
      const measure = Effect.gen(function*() {
        const worker = yield* Program.startMeasuredWorker({ ...site.environment, KINORA_WORKERS: "1" })
        // The first job loads and compiles code, which does not count.
        yield* run(1_000_000)
        const before = yield* worker.residentMemory
        yield* run(bytes)
        const after = yield* worker.residentMemory
        return after.max - before.now
      }).pipe(Effect.scoped)

      // Other work on the machine delays the garbage collector, and buffers that nobody needs stay longer.
      const grown = yield* Effect.repeat(measure, { until: (grown) => grown < grownMax, times: 2 })
      assert.isBelow(grown, grownMax)
    }),
  { timeout: 300_000 }
)

const model = {
  ...Drill.model({ id: "large", kind: "video" }),
  driver: { name: "upstream", options: { model: "owner/name" } }
}

/** Starts an upstream whose videos are as long as the prompt says, and returns a site whose model runs there. */
const startUpstream = Effect.gen(function*() {
  const upstream = yield* replicate
  upstream.after("POST /v1/models", ({ body }) => {
    const { input } = JSON.parse(String(body)) as { readonly input: { readonly prompt: string } }
    upstream.next(`GET /v1/${input.prompt}.mp4`, LargeVideo.sends(Number(input.prompt)))
    upstream.change({ status: "succeeded", output: `${upstream.origin}/v1/${input.prompt}.mp4` })
  })
  return yield* Site.make({
    databaseUrl: yield* TestDatabase.postgresUrl,
    models: [model],
    drivers: {
      upstream: {
        module: "@kinora/generator-http/Replicate",
        options: { base_url: `${upstream.origin}/v1`, api_key: "the-key-of-the-upstream", private: true }
      }
    }
  })
})
