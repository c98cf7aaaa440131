import { assert, layer } from "@effect/vitest"
import { DefaultModels } from "@kinora/catalog"
import { GenerationQueue } from "@kinora/generations"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Readiness } from "@kinora/http-server"
import { Payment, PaymentProvider } from "@kinora/payments"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Transport } from "@kinora/webhooks"
import { Context, DateTime, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as ClockCheck from "../../src/ClockCheck.ts"
import * as Http from "../../src/Http.ts"
import * as Notifications from "../../src/Notifications.ts"
import * as ProcessMetrics from "../../src/ProcessMetrics.ts"
import * as Services from "../../src/Services.ts"
import * as Stores from "../../src/Stores.ts"
import * as Webhook from "../../src/Webhook.ts"
import * as Work from "../../src/Work.ts"
import { code, expectTables } from "./Page.ts"

const token = "the token of the operators of this service"

/** A payment provider whose webhooks are the ids of payments that expired. */
const paymentProvider = Layer.succeed(
  PaymentProvider.PaymentProvider,
  PaymentProvider.PaymentProvider.of({
    name: "stripe",
    open: () =>
      Effect.map(DateTime.now, (expiresAt) => ({ reference: "cs_1", url: "https://pay.example.com/", expiresAt })),
    read: () => Effect.succeed({ _tag: "Open" }),
    verify: (body) => {
      const payment = Payment.PaymentId.parse(JSON.parse(new TextDecoder().decode(body)))
      const outcome = { reference: "cs_1", payment, status: "expired", amount: 100, currency: "usd" } as const
      return Effect.succeed({ _tag: "Ended", outcome })
    }
  })
)

/** A server and a worker whose jobs succeed at once. */
class Server extends Context.Service<Server, { readonly baseUrl: string }>()("test/Server") {
  static readonly layer = Layer.effect(
    Server,
    Effect.map(HttpServer.addressFormattedWith(Effect.succeed), (baseUrl) => ({ baseUrl }))
  ).pipe(
    Layer.provide(
      Http.layer({ host: "127.0.0.1", port: 0, interface: { adminToken: Redacted.make(token) }, grace: 0 })
    ),
    Layer.provide(Work.layerWorker({ name: "test", concurrency: 3 })),
    Layer.provide(GenerationQueue.layerMonitor({ interval: "10 millis" })),
    Layer.provide(Webhook.layerWorker({ sends: 8, baseUrl: "https://media.example.com" })),
    Layer.provide(Layer.succeed(Transport.Transport, {
      send: () => Effect.succeed({ reason: "ok", httpStatus: 200 } as const)
    })),
    Layer.provide(ProcessMetrics.layer),
    Layer.provide(ClockCheck.layerWith(Effect.succeed({ aheadMillis: 0, roundTripMillis: 0 }))),
    Layer.provide(Readiness.layerAlways),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] })),
    Layer.provide(
      Services.layer({ models: [{ ...DefaultModels.still, driver: { name: "scripted" } }], paymentProvider })
    ),
    Layer.provide([
      Stores.layerMemory,
      BlobStore.layerMemory,
      Notifications.layerLocal,
      Webhook.layerProtection({
        keys: [Redacted.make("at least 32 bytes that seal what the service keeps")],
        lookup: { addresses: () => Effect.succeed(["1.1.1.1"]), aliases: () => Effect.succeed([]) }
      }),
      Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
        Layer.provide(ScriptedGenerator.layerControl({ pollInterval: "10 millis" }))
      )
    ]),
    Layer.provide(Layer.sync(Metric.MetricRegistry, () => new Map()))
  )
}

/** The parts of responses that a test needs. */
const Account = Schema.fromJsonString(Schema.Struct({ id: Schema.String }))
const Sends = Schema.fromJsonString(Schema.Struct({ data: Schema.Array(Schema.Struct({ reason: Schema.String })) }))
const Key = Schema.fromJsonString(Schema.Struct({ key: Schema.String }))
const Job = Schema.fromJsonString(Schema.Struct({
  status: Schema.Literal("completed"),
  output: Schema.Struct({ url: Schema.String })
}))

const request = Effect.fnUntraced(function*(method: string, path: string, key = token, body?: Schema.Json) {
  const { baseUrl } = yield* Server
  const headers = {
    "authorization": `Bearer ${key}`,
    "content-type": "application/json",
    // Webhooks of payments without a signature are rejected before their body is read.
    "stripe-signature": "any"
  }
  const init: RequestInit = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
  return yield* Effect.promise((signal) =>
    fetch(new URL(path, baseUrl), { ...init, signal }).then((response) => response.text())
  )
})

/** Updates every metric: an account, a completed job, its result, a rejected request, a webhook and a payment. */
const use = Effect.gen(function*() {
  const decode = <A>(schema: Schema.ConstraintDecoder<A>) => Effect.flatMap(Schema.decodeUnknownEffect(schema))
  const { id } = yield* request("POST", "/admin/v1/accounts", token, { email: "a@example.com" }).pipe(decode(Account))
  const account = `/admin/v1/accounts/${id}`
  const { key } = yield* request("POST", `${account}/keys`, token, { name: "one" }).pipe(decode(Key))
  const until = "2036-12-31T00:00:00Z"
  yield* request("PUT", `${account}/plans/credits`, token, { tier: "pro", period_end: until })
  const lot = { reference: "one", kind: "addon", credits: 1000, expires_at: until }
  yield* request("POST", `${account}/lots`, token, lot)
  const endpoints = `${account}/webhook-endpoints`
  const hooks = { url: "https://hooks.example.com/", types: ["generation.completed"] }
  const endpoint = yield* request("POST", endpoints, token, hooks).pipe(decode(Account))
  const order = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
  const job = yield* request("POST", "/v1/generations", key, order).pipe(decode(Account))
  const { output } = yield* request("GET", `/v1/generations/${job.id}?wait=60`, key).pipe(decode(Job))
  yield* request("GET", output.url, key)
  yield* request("GET", "/v1/generations/none", key)
  const urls = { success_url: "https://example.com/a", cancel_url: "https://example.com/b" }
  const checkout = { amount_usd_cents: 100, ...urls }
  const payment = yield* request("POST", `${account}/wallet/checkouts`, token, checkout).pipe(decode(Account))
  yield* request("POST", "/webhooks/stripe", token, payment.id)
  yield* request("GET", `${endpoints}/${endpoint.id}/sends`).pipe(
    decode(Sends),
    Effect.repeat({ until: ({ data }) => data.length === 1 })
  )
})

/** The metric families of an exposition. */
const familiesOf = (text: string) =>
  Array.from(text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n/gm), ([, name = "", help = "", type = ""]) => {
    const samples = Array.from(text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? .+$`, "gm")))
    const labels = samples.flatMap(([, labels = ""]) =>
      Array.from(labels.matchAll(/(\w+)="/g), ([, label = ""]) => label)
    )
    return { name, type, labels: [...new Set(labels)].filter((label) => label !== "le"), help }
  })

layer(Server.layer, { excludeTestServices: true })("docs/reference/metrics.md", (it) => {
  it.effect("lists every metric with its type and its labels", () =>
    Effect.gen(function*() {
      yield* use
      const text = yield* request("GET", "/metrics", "nobody")
      const families = familiesOf(text)
      yield* expectTables("reference/metrics.md", {
        metrics: {
          head: ["metric", "type", "labels", "description"],
          rows: families.toSorted((a, b) => a.name < b.name ? -1 : 1).map(({ help, labels, name, type }) => [
            code(name),
            type,
            labels.map(code).join(", "),
            help
          ])
        }
      })
      // Every line belongs to one of them.
      const names = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name))
      assert.strictEqual(names.size, families.length)
    }))

  it.effect("counts a job and measures the process", () =>
    Effect.gen(function*() {
      const lines = (yield* request("GET", "/metrics", "nobody")).split("\n")
      const of = `plan="credits",kind="image"`
      assert.includeMembers(lines, [
        `kinora_jobs_created_total{${of}} 1`,
        `kinora_jobs_ended_total{${of},outcome="completed"} 1`,
        `kinora_job_wait_seconds_count{plan="credits"} 1`,
        `kinora_job_run_seconds_count{kind="image",outcome="completed"} 1`,
        `kinora_payments_ended_total{outcome="expired"} 1`,
        `kinora_webhook_sends_total{outcome="ok"} 1`,
        "kinora_webhook_send_seconds_count 1",
        "kinora_webhook_delay_seconds_count 1",
        "kinora_webhook_sends_in_flight 0",
        "kinora_worker_slots 3",
        `kinora_queue_jobs{state="queued",model="kinora-still"} 0`,
        `kinora_queue_oldest_seconds{model="kinora-still"} 0`,
        `kinora_queue_workers{model="kinora-still"} 1`,
        "kinora_worker_jobs_running 0"
      ])
      const valueOf = (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1])
      const memory = valueOf("kinora_process_resident_memory_bytes")
      assert.isAbove(memory, valueOf("kinora_process_heap_used_bytes"))
      assert.isAtLeast(valueOf("kinora_process_event_loop_lag_seconds"), 0)
      assert.isBelow(valueOf("kinora_process_event_loop_lag_seconds"), valueOf("kinora_process_uptime_seconds"))
      assert.isAbove(valueOf("kinora_process_cpu_seconds_total"), 0)
    }))
})
