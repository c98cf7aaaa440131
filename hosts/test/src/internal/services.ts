/** Every service of the product, in this process's memory and on this host's time. */
import type { Model } from "@kinora/catalog"
import { DefaultModels } from "@kinora/catalog"
import { Generator, Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import { Drivers, Notifications, Services, Stores, Webhook, Work } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { Media } from "@kinora/media"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Layer, Metric, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { HttpServer } from "effect/http"
import { defaultBaseUrl, startsAt, type TestHostOptions } from "../TestHostOptions.ts"
import * as VirtualTime from "../VirtualTime.ts"
import * as Script from "./Script.ts"
import * as Webhooks from "./webhooks.ts"

/** All but HTTP. A worker and the sweeps are running. */
export const layer = (options: TestHostOptions) => {
  const { models, planTable, procedural = false, resultTtl, workers = 8 } = options
  const configured = models ?? DefaultModels.models
  const services = Services.layer({
    models: procedural ? configured : configured.map(madeByScript),
    planTable
  })
  const generators = (procedural ? Generators.layer({ procedural: painted, scripted }) : Generators.layer({ scripted }))
    .pipe(
      Layer.provideMerge(Script.layer(options.script ?? (procedural ? Drivers.scriptOf : {})))
    )
  const baseUrl = options.http?.baseUrl ?? defaultBaseUrl
  const surroundings = Layer.mergeAll(
    BlobStore.layerMemory,
    generators,
    HttpServer.layerServices,
    Notifications.layerLocal,
    Readiness.layerAlways,
    Stores.layerMemory,
    Webhooks.layer(options.webhooks ?? {}, baseUrl),
    UrlSigner.layer({ keys: [Redacted.make("the test host signs its links so")] })
  )
  const worker = Work.layerWorker({ name: "test", concurrency: workers, resultTtl, ...alone })
  const sender = Webhook.layerWorker({
    sends: 256,
    baseUrl,
    lookPause: 0,
    pollInterval: alone.pollInterval
  })
  return Layer.mergeAll(worker, sender, sweeps).pipe(
    Layer.provideMerge(stillness),
    Layer.provideMerge(services),
    Layer.provideMerge(surroundings),
    Layer.provideMerge(counters),
    Layer.provideMerge(timeOf(options))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * There is no other worker that could have told of work, or take over. Looking for
 * either every few seconds would be most of what happens in a month of virtual time.
 * A job that runs when the host stops is given up, since nobody moves time for it.
 */
const alone = { grace: 0, lease: "1 day", pollInterval: "1 day" } as const

/** So would be looking every minute for what nobody needs any more. */
const sweeps = Layer.unwrap(Effect.map(VirtualTime.VirtualTime, ({ nap }) => Work.layerSweepsWith({ pause: nap })))

const timeOf = (options: TestHostOptions) =>
  options.time === "real" ? VirtualTime.layerReal : VirtualTime.layer(Number(options.startsAt ?? startsAt))

const scripted = ScriptedGenerator.layer

const madeByScript = (model: Model.ModelInput): Model.ModelInput => ({
  ...model,
  driver: { name: "scripted", options: {} }
})

/** The painter, which uses threads. */
const painted = Layer.effect(
  Generator.Generator,
  Effect.gen(function*() {
    const generator = yield* Generator.Generator
    const { still } = yield* VirtualTime.VirtualTime
    return Generator.Generator.of({
      ...generator,
      poll: (operation) => still(generator.poll(operation)),
      collect: (operation) => still(generator.collect(operation))
    })
  })
).pipe(Layer.provide(ProceduralGenerator.layer()))

/** What is counted here is of this host alone, as it is of a process. */
const counters = Layer.sync(Metric.MetricRegistry, () => new Map())

/** Whatever else takes real time. */
const stillness = Layer.mergeAll(
  Layer.effect(
    Media.Media,
    Effect.gen(function*() {
      const media = yield* Media.Media
      const { still } = yield* VirtualTime.VirtualTime
      return Media.Media.of({
        normalise: (bytes, options) => still(media.normalise(bytes, options)),
        preview: (bytes) => still(media.preview(bytes)),
        thumb: (bytes) => still(media.thumb(bytes))
      })
    })
  ),
  Layer.effect(
    Digest.Digest,
    Effect.gen(function*() {
      const { digest, digestHex } = yield* Digest.Digest
      const { still } = yield* VirtualTime.VirtualTime
      return Digest.Digest.of({
        digest: (algorithm, data) => still(digest(algorithm, data)),
        digestHex: (algorithm, data) => still(digestHex(algorithm, data))
      })
    })
  )
)
