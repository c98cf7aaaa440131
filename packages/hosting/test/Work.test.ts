import { assert, it } from "@effect/vitest"
import { DefaultModels } from "@kinora/catalog"
import { Effect, Layer, Redacted } from "effect"
import * as Drivers from "../src/Drivers.ts"
import * as Host from "../src/Host.ts"
import * as Webhook from "../src/Webhook.ts"
import * as Work from "../src/Work.ts"

const services = Host.layerMemory({
  models: [DefaultModels.draft, DefaultModels.still],
  urlSigningKeys: [Redacted.make("at least 32 bytes that only the service has")]
}).pipe(
  Layer.provide(Webhook.layerProtection({
    keys: [Redacted.make("at least 32 bytes that seal what the service keeps")],
    lookup: { addresses: () => Effect.succeed(["1.1.1.1"]), aliases: () => Effect.succeed([]) }
  })),
  Layer.provideMerge(Drivers.layer())
)

it.effect("a worker does not start with models that it cannot run", () =>
  Effect.gen(function*() {
    const start = (models: ReadonlyArray<string>) =>
      Effect.scoped(Layer.build(Work.layerWorker({ name: "test", concurrency: 1, models })))
    yield* start(["kinora-still"])
    const error = yield* Effect.flip(start(["kinora-still", "kinora-stlil"]))
    assert.strictEqual(
      error.message,
      "KINORA_WORKER_MODELS names models that this process cannot run: kinora-stlil. " +
        "It can run: kinora-draft, kinora-still"
    )
  }).pipe(Effect.provide(services)))
