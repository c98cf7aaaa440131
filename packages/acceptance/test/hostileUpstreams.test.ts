/** Upstreams that return what no upstream should: every job fails and is refunded, and little is read. */
import { assert, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import { Kinora } from "@kinora/client"
import Replicate from "@kinora/generator-http/Replicate"
import { type RunningHost, TestHost } from "@kinora/host-test"
import type { Handler } from "@kinora/testkit/upstreams/Listener"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { png } from "@kinora/testkit/upstreams/Results"
import { responds, sendFile, truncates } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect } from "effect"

/** Maximum length of a result, in bytes. */
const bytesMax = 1024 * 1024
/** Bytes that the connections of this machine can hold besides, generously. */
const buffered = 16 * 1024 * 1024

const model = (id: string, time_limit: string): Model.ModelInput => ({
  ...DefaultModels.still,
  id,
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  params_schema: [],
  price_table: [{ params: {}, credits: 5 }],
  time_limit,
  driver: { name: "replicate", options: { model: "owner/name" } }
})

/** Responds with a file that does not end, and counts its bytes. */
const makeEndless = (headers: Readonly<Record<string, string>>) => {
  const sent = { bytes: 0 }
  const handle: Handler = (_, response) => {
    response.writeHead(200, { "content-type": "image/png", ...headers })
    const part = Buffer.alloc(64 * 1024)
    const send = () => {
      if (response.destroyed) return
      sent.bytes += part.length
      response.write(part, send)
    }
    send()
  }
  return { sent, handle }
}

const endless = makeEndless({})
const huge = makeEndless({ "content-length": String(10 * 1024 ** 3) })

/** A job by its prompt: the response to the request for its result, and its error. */
interface Case {
  readonly prompt: string
  readonly model: "patient" | "hurried"
  readonly handle: (elsewhere: string) => Handler
  readonly error: string
}

const cases: ReadonlyArray<Case> = [
  { prompt: "endless", model: "patient", handle: () => endless.handle, error: "upstream_error" },
  { prompt: "huge", model: "patient", handle: () => huge.handle, error: "upstream_error" },
  {
    prompt: "page",
    model: "patient",
    handle: () => (_, response) => sendFile(response, "image/png", Buffer.from("<html></html>")),
    error: "upstream_error"
  },
  {
    prompt: "redirect",
    model: "patient",
    handle: (elsewhere) => responds(302, { location: `${elsewhere}/private.png` }),
    error: "upstream_error"
  },
  { prompt: "truncated", model: "hurried", handle: () => truncates("image/png", png.bytes), error: "time_limit" }
]

const creditsOf = async (host: RunningHost.RunningHost): Promise<number> => {
  const response = await host.fetch("/admin/v1/ledger/verify", { method: "POST", apiKey: host.adminToken })
  const { discrepancies, totals } = await response.json() as {
    readonly discrepancies: ReadonlyArray<unknown>
    readonly totals: { readonly remaining: number }
  }
  assert.deepStrictEqual(discrepancies, [])
  return totals.remaining
}

/** Starts a server whose jobs succeed at once with a result at its own origin, unless they never end. */
const startUpstream = Effect.gen(function*() {
  const server = yield* replicate
  server.content.file = png
  for (const { handle, prompt } of cases) {
    // A truncated result is requested again until the time limit.
    for (let requests = 0; requests < 20; requests++) server.next(`GET /v1/${prompt}.png`, handle(server.files.origin))
  }
  server.next("GET /v1/honest.png", (_, response) => sendFile(response, png.mime, png.bytes))
  server.after("POST /v1/models", ({ body }) => {
    const { input } = JSON.parse(String(body)) as { readonly input: { readonly prompt: string } }
    const id = `p${server.submitted.length}`
    const isEndless = input.prompt === "never"
    server.predictions.set(id, {
      id,
      status: isEndless ? "processing" : "succeeded",
      output: [`${server.origin}/v1/${input.prompt}.png`]
    })
  })
  return server
})

it.live("fails and refunds the jobs of hostile upstreams, and reads little of what they send", () =>
  Effect.gen(function*() {
    const server = yield* startUpstream
    yield* Effect.promise(async () => {
      await using host = await TestHost.start({
        time: "real",
        models: [model("patient", "1 minute"), model("hurried", "2 seconds")],
        drivers: {
          replicate: {
            driver: Replicate,
            options: {
              base_url: `${server.origin}/v1`,
              api_key: "key",
              result_bytes_max: bytesMax,
              poll_interval: "50 millis"
            }
          }
        }
      })
      const { apiKey, baseUrl, fetch } = host
      const kinora = new Kinora({ apiKey, baseUrl, fetch })
      const run = async (model: string, prompt: string) =>
        kinora.generations.wait((await kinora.generations.create({ plan: "credits", model, params: { prompt } })).id)

      const honest = await run("patient", "honest")
      assert.strictEqual(honest.status, "completed", honest.error?.message)
      const before = await creditsOf(host)

      for (const { error, model, prompt } of cases) {
        const job = await run(model, prompt)
        assert.deepStrictEqual([job.status, job.error?.code, job.refunded], ["failed", error, true], prompt)
      }
      const never = await run("hurried", "never")
      assert.deepStrictEqual([never.status, never.error?.code, never.refunded], ["failed", "time_limit", true])
      assert.isFalse([...server.predictions.values()].some(({ status }) => status === "processing"), "cancelled")

      const { output } = server.predictions.get("p1") ?? assert.fail("the honest job is there")
      server.next("POST", responds(201, {}, { id: "p1", status: "succeeded", output }))
      const calls = server.requests.length
      const reused = await run("patient", "reused")
      assert.deepStrictEqual([reused.status, reused.error?.code, reused.refunded], ["failed", "upstream_error", true])
      assert.strictEqual(server.requests.length, calls + 1, "only the submit")

      assert.isBelow(endless.sent.bytes, bytesMax + buffered)
      assert.isBelow(huge.sent.bytes, buffered)
      assert.lengthOf(server.files.requests, 0, "requests to a private address")
      assert.strictEqual(await creditsOf(host), before)
    })
  }).pipe(Effect.scoped))
