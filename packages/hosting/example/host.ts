import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Http, Notifications, Services, Stores, Webhook, Work } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Layer, Redacted } from "effect"

/** The models that this host serves, and the generator that makes them. */
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

/** In place of `Drivers.layer`: a driver of your own implements the port of `@kinora/generator`. */
const generators = Generators.layer({ "my-engine": ScriptedGenerator.layer }).pipe(
  Layer.provide(ScriptedGenerator.layerControl({ pollInterval: "100 millis" }))
)

/** Everything but HTTP, in this process's memory. */
const services = Services.layer({ models }).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Stores.layerMemory,
    BlobStore.layerMemory,
    Notifications.layerLocal,
    generators,
    UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service knows")] }),
    Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
  ))
)

/** Runs jobs, sends webhooks with links to this host, and deletes what nobody needs any more. */
const work = Layer.mergeAll(
  Work.layerWorker({ name: "worker-1", concurrency: 2 }),
  Webhook.layerWorker({ sends: 64, baseUrl: "https://ink.example.com" }).pipe(
    Layer.provide(Webhook.layerTransport)
  ),
  Work.layerSweeps
)

const http = Http.layer({ host: "127.0.0.1", port: 0, interface: { docs: false } }).pipe(
  Layer.provide(Readiness.layerAlways)
)

/** What is built last stops first: nobody asks for more while the worker finishes what it has. */
export const host = http.pipe(Layer.provideMerge(work), Layer.provideMerge(services))
