import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Host, Http, Webhook } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { Layer, Redacted } from "effect"

/** The models of this host. */
const models = [{
  id: "ink-1",
  name: "Ink",
  kind: "image",
  studio_eligible: true,
  capabilities: ["text_to_image"],
  max_prompt_chars: 500,
  params_schema: [],
  price_table: [{ params: {}, credits: 4 }],
  driver: { name: "my-engine" },
  time_limit: "2 minutes",
  output_formats: ["image/png"]
}]

/** The drivers. A driver of your own implements the port of `@kinora/generator`. */
const generators = Generators.layer({ "my-engine": ScriptedGenerator.layer }).pipe(
  Layer.provide(ScriptedGenerator.layerControl({ pollInterval: "100 millis" }))
)

/** The services in memory. */
const services = Host.layerMemory({
  models,
  urlSigningKeys: [Redacted.make("a secret of at least 32 bytes that signs URLs")]
}).pipe(
  Layer.provideMerge(Webhook.layerProtection({ keys: [Redacted.make("a secret of at least 32 bytes for webhooks")] }))
)

/** Runs jobs, sends webhooks and sweeps. */
const work = Host.layerWork({
  worker: { name: "worker-1", concurrency: 2 },
  sender: { sends: 64, baseUrl: "https://ink.example.com" }
}).pipe(Layer.provide([Webhook.layerTransport, generators]))

const http = Http.layer({ host: "127.0.0.1", port: 0, interface: { docs: false } }).pipe(
  Layer.provide(Readiness.layerAlways)
)

/** The layer that is built last stops first, so that requests end before the worker drains. */
export const host = http.pipe(Layer.provideMerge(work), Layer.provideMerge(services))
