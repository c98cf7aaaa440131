/** The services of a test host: the product's composition in memory, on virtual time, with a scripted generator and scripted webhooks. */
import type { Model } from "@kinora/catalog"
import { DefaultModels } from "@kinora/catalog"
import { Generator, Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import { Drivers, Host } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { Media } from "@kinora/media"
import { Sweep } from "@kinora/persistence"
import { Effect, Layer, Metric, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { HttpServer } from "effect/http"
import { defaultBaseUrl, startsAt, type TestHostOptions } from "../TestHostOptions.ts"
import * as VirtualTime from "../VirtualTime.ts"
import * as Script from "./Script.ts"
import * as Webhooks from "./webhooks.ts"

/** The services without HTTP. Runs a worker and the sweeps. */
export const layer = (options: TestHostOptions) => {
  const { models = DefaultModels.models, planTable, procedural = false } = options
  const services = Host.layerMemory({
    models: procedural ? models : models.map(withScriptedDriver),
    planTable,
    urlSigningKeys: [Redacted.make("signing key of content URLs of a test host")]
  })
  const surroundings = Layer.mergeAll(
    layerGenerators(options),
    HttpServer.layerServices,
    Readiness.layerAlways,
    Webhooks.layer(options.webhooks ?? {}, baseUrlOf(options))
  )
  return layerWork(options).pipe(
    Layer.provideMerge(layerStill),
    Layer.provideMerge(services),
    Layer.provideMerge(surroundings),
    Layer.provideMerge(layerMetrics),
    Layer.provideMerge(layerTime(options))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const baseUrlOf = ({ http }: TestHostOptions) => http?.baseUrl ?? defaultBaseUrl

/**
 * There are no other processes, so polling and short leases have no purpose. They
 * would be most of the work in a month of virtual time. A running job is abandoned when
 * the host stops, because nothing advances its time.
 */
const alone = { grace: 0, lease: "1 day", pollInterval: "1 day" } as const

const layerWork = (options: TestHostOptions) =>
  Host.layerWork({
    worker: { name: "test", concurrency: options.workers ?? 8, resultTtl: options.resultTtl, ...alone },
    sender: { sends: 256, baseUrl: baseUrlOf(options), lookPause: 0, pollInterval: alone.pollInterval }
  }).pipe(Layer.provide(layerNaps))

/** Sweeps pause with `nap`, so that they run rarely while a long time passes. */
const layerNaps = Layer.effect(Sweep.Pause, Effect.map(VirtualTime.VirtualTime, ({ nap }) => nap))

const layerTime = (options: TestHostOptions) =>
  options.time === "real" ? VirtualTime.layerReal : VirtualTime.layer(Number(options.startsAt ?? startsAt))

/** The scripted generator, and the procedural one if models run on their own drivers. */
const layerGenerators = ({ procedural = false, script }: TestHostOptions) => {
  const scripted = ScriptedGenerator.layer
  const generators = procedural
    ? Generators.layer({ procedural: layerStillProcedural, scripted })
    : Generators.layer({ scripted })
  return generators.pipe(Layer.provideMerge(Script.layer(script ?? (procedural ? Drivers.scriptOf : {}))))
}

const withScriptedDriver = (model: Model.ModelInput): Model.ModelInput => ({
  ...model,
  driver: { name: "scripted", options: {} }
})

/** The procedural generator. Time stands still while it works on other threads. */
const layerStillProcedural = Layer.effect(
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

/** A registry for the metrics of this host only. */
const layerMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())

/** Services that work on other threads. Time stands still while they work. */
const layerStill = Layer.mergeAll(
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
