/** Upstreams that call back, on a host in memory whose time stands still: no job completes by a timed poll. */
import { assert, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import type { Driver } from "@kinora/generator"
import Fal from "@kinora/generator-http/Fal"
import Replicate from "@kinora/generator-http/Replicate"
import { TestHost } from "@kinora/host-test"
import { fal } from "@kinora/testkit/upstreams/FalServer"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { png } from "@kinora/testkit/upstreams/Results"
import type { Line, Scripted } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, type Scope } from "effect"

/** The URL with another signature. */
const forged = (url: string) => url.replace(/sig=(.)/, (_, first) => first === "-" ? "sig=_" : "sig=-")

/** An upstream with one job. */
interface Upstream {
  readonly server: Scripted
  readonly driver: Driver.Driver
  readonly baseUrl: string
  /** Options of the model. */
  readonly model: { readonly model: string }
  /** Method and path of a poll. */
  readonly poll: Line
  /** Completes the job, with a result. */
  readonly finish: () => void
  /** The URL that was sent with the job. */
  readonly callbackUrl: () => string
}

const startReplicate = Effect.map(replicate, (server): Upstream => ({
  server,
  driver: Replicate,
  baseUrl: `${server.origin}/v1`,
  model: { model: "owner/name" },
  poll: "GET /v1/predictions/",
  finish: () => {
    server.content.file = png
    server.change({ status: "succeeded", output: [`${server.files.origin}/out.png`] })
  },
  callbackUrl: () => (server.submitted[0]!.body as { readonly webhook: string }).webhook
}))

const startFal = Effect.map(fal, (server): Upstream => ({
  server,
  driver: Fal,
  baseUrl: server.origin,
  model: { model: "fal-ai/flux/dev" },
  poll: /^GET \S+\/status$/,
  finish: () => {
    server.content.file = png
    server.result.body = { images: [{ url: `${server.files.origin}/out.png` }] }
    server.change({ status: "COMPLETED" })
  },
  callbackUrl: () => new URL(server.submitted[0]!.path, server.origin).searchParams.get("fal_webhook")!
}))

const completes = (name: string, start: Effect.Effect<Upstream, never, Scope.Scope>) =>
  it.live(`${name} completes a job by calling the URL that it got`, () =>
    Effect.gen(function*() {
      const upstream = yield* start
      const polled = Promise.withResolvers<void>()
      upstream.server.after(upstream.poll, () => polled.resolve())
      yield* Effect.promise(async () => {
        const model: Model.ModelInput = {
          ...DefaultModels.still,
          id: "remote",
          capabilities: ["text_to_image"],
          max_reference_images: 0,
          params_schema: [],
          price_table: [{ params: {}, credits: 5 }],
          driver: { name: "remote", options: upstream.model }
        }
        const options = { base_url: upstream.baseUrl, api_key: "key", private: true }
        await using host = await TestHost.start({
          models: [model],
          drivers: { remote: { driver: upstream.driver, options } }
        })
        const created = await host.fetch("/v1/generations", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ plan: "credits", model: "remote", params: { prompt: "a lake" } })
        })
        const { id } = await created.json() as { readonly id: string }
        await polled.promise
        const call = async (url: string) =>
          (await host.fetch(url, { method: "POST", apiKey: null, body: JSON.stringify({ status: "failed" }) })).status

        const url = upstream.callbackUrl()
        assert.isTrue(url.startsWith(`${host.baseUrl}/internal/callbacks/${id}?`), url)
        upstream.finish()
        assert.strictEqual(await call(forged(url)), 404)
        await host.clock.advance(0)
        assert.strictEqual(upstream.server.requests.filter(({ method }) => method === "GET").length, 1)

        assert.strictEqual(await call(url), 204)
        assert.strictEqual(await host.settled(id), "completed")
        // A repeated callback of a job that has ended.
        assert.strictEqual(await call(url), 204)
      })
    }).pipe(Effect.scoped))

completes("Replicate", startReplicate)
completes("fal", startFal)
