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
const heldMax = 32 * 1024 ** 2

it.live(
  "a worker holds less than 32 MiB of a video of 300 MB that it stores",
  () =>
    Effect.gen(function*() {
      const site = yield* startUpstream
      const peer = yield* Layer.build(Peer.layer(site))
      const { id: account } = yield* Effect.provide(Books.openAccount({ credits: 10 }), peer)
      const worker = yield* Program.startMeasuredWorker({ ...site.environment, KINORA_WORKERS: "1" })

      /** The most memory that was in use during a job, after garbage collections. */
      const run = Effect.fnUntraced(function*(length: number) {
        const generations = yield* Generations.Generations
        const { generation } = yield* Peer.create(account, { model: model.id, prompt: String(length) })
        let most = 0
        // Resident memory would depend on the collector, which other work on the machine delays.
        const ended = yield* generations.wait(account, generation.id, "500 millis").pipe(
          Effect.tap(() => Effect.map(worker.memoryInUse, (inUse) => void (most = Math.max(most, inUse)))),
          Effect.repeat({ until: ({ status }) => isFinal(status) })
        )
        assert.strictEqual(ended.output?.content.bytes, length)
        return most
      }, Effect.provide(peer))

      // The first job loads and compiles code, which does not count.
      yield* run(1_000_000)
      const before = yield* worker.memoryInUse
      assert.isBelow((yield* run(bytes)) - before, heldMax)
    }),
  { timeout: 300_000 }
)

const model = {
  ...Drill.model({ id: "large", kind: "video" }),
  driver: { name: "upstream", options: { model: "owner/name" } }
}

/** Starts an upstream whose videos have the length in the prompt, and returns a site whose model runs there. */
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
