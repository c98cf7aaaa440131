/** A callback that reaches a server, while a worker in another process polls the job. */
import { assert, it } from "@effect/vitest"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { png } from "@kinora/testkit/upstreams/Results"
import { Effect, Fiber } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"

/** The URL with another signature. */
const forged = (url: string) => url.replace(/sig=(.)/, (_, first) => first === "-" ? "sig=_" : "sig=-")

/** Longer than the test. A job that completes was called. */
const pollInterval = "10 minutes"

it.live("a callback to a server wakes the poll of a worker in another process", () =>
  Effect.gen(function*() {
    const upstream = yield* replicate
    const polled = Promise.withResolvers<void>()
    upstream.after("GET /v1/predictions/", () => polled.resolve())
    const site = yield* Site.make({
      databaseUrl: yield* TestDatabase.postgresUrl,
      models: [{
        ...Drill.model({ id: "remote" }),
        driver: { name: "remote", options: { model: "owner/name" } }
      }],
      drivers: {
        remote: {
          module: "@kinora/generator-http/Replicate",
          options: {
            base_url: `${upstream.origin}/v1`,
            api_key: "the-key-of-the-upstream",
            private: true,
            poll_interval: pollInterval
          }
        }
      }
    })
    const server = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
    const worker = yield* Program.start("worker", { ...site.environment, KINORA_CALLBACK_URL: server.baseUrl })
    const account = yield* Books.use(site, Books.openAccount({ credits: 10, tier: "pro" }))
    const client = Client.make(server.baseUrl, account.key)
    const { id } = yield* client.createJob({ model: "remote", prompt: "a lake" })
    yield* Effect.promise(() => polled.promise)

    const { webhook } = upstream.submitted[0]!.body as { readonly webhook: string }
    assert.isTrue(webhook.startsWith(`${server.baseUrl}/internal/callbacks/${id}?`), webhook)
    const call = (url: string) => Effect.map(Client.send(url, { method: "POST" }), ({ status }) => status)
    upstream.content.file = png
    upstream.change({ status: "succeeded", output: [`${upstream.files.origin}/out.png`] })
    assert.strictEqual(yield* call(forged(webhook)), 404)
    assert.strictEqual((yield* client.get(id)).status, "processing")

    // Repeated, since the worker may not listen yet.
    const ending = yield* Effect.forkChild(client.awaitEnd(id), { startImmediately: true })
    while (ending.pollUnsafe() === undefined) {
      assert.strictEqual(yield* call(webhook), 204)
      yield* Effect.timeoutOption(Fiber.await(ending), "200 millis")
    }
    assert.strictEqual((yield* Fiber.join(ending)).status, "completed")

    const signature = new URL(webhook).searchParams.get("sig")!
    for (const program of [server, worker]) {
      const { stderr, stdout } = yield* program.stop
      assert.notInclude(stdout + stderr, signature)
    }
  }).pipe(Effect.scoped), 120_000)
