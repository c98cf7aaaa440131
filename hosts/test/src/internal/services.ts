/** The services of a test host: the product's composition in memory, on virtual time, with a scripted generator and scripted webhooks. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Model } from "@kinora/catalog"
import { DefaultModels } from "@kinora/catalog"
import { Driver, Generator, ScriptedDriver, ScriptedGenerator } from "@kinora/generator"
import { Drivers, Host } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { Media } from "@kinora/media"
import { Sweep } from "@kinora/persistence"
import { Effect, Layer, Metric, Redacted, Result } from "effect"
import { Digest } from "effect/crypto"
import { defaultBaseUrl, startsAt, type TestHostOptions } from "../TestHostOptions.ts"
import * as VirtualTime from "../VirtualTime.ts"
import * as Script from "./Script.ts"
import * as Webhooks from "./webhooks.ts"

/** The services without HTTP. Runs a worker and the sweeps. */
export const layer = (options: TestHostOptions) => {
  const services = Host.layerMemory({
    models: modelsOf(options),
    planTable: options.planTable,
    paymentProvider: options.paymentProvider,
    urlSigningKeys: [Redacted.make("signing key of content URLs of a test host")]
  })
  const surroundings = Layer.mergeAll(
    layerGenerators(options),
    NodeHttpServer.layerHttpServices,
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
    sender: { sends: 256, baseUrl: baseUrlOf(options), lookPause: 0, pollInterval: alone.pollInterval },
    callbackOrigin: baseUrlOf(options)
  }).pipe(Layer.provide(layerNaps))

/** Sweeps pause with `nap`, so that they run rarely while a long time passes. */
const layerNaps = Layer.effect(Sweep.Pause, Effect.map(VirtualTime.VirtualTime, ({ nap }) => nap))

const layerTime = (options: TestHostOptions) =>
  options.time === "real" ? VirtualTime.layerReal : VirtualTime.layer(Number(options.startsAt ?? startsAt))

/** The scripted generator of `Control`, and the drivers of the test. */
const layerGenerators = (options: TestHostOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const { generator } = yield* ScriptedGenerator.Control
    const { still } = yield* VirtualTime.VirtualTime
    const scripted = Driver.make({
      modelOptions: ScriptedDriver.ModelOptions,
      layer: () => Layer.succeed(Generator.Generator, generator)
    })
    const { procedural } = Drivers.defaults
    const others = Object.entries({ procedural, ...options.drivers }).map(([name, { driver, ...registration }]) =>
      [name, { ...registration, driver: stillDriver(driver, still) }] as const
    )
    return Drivers.layer({
      models: modelsOf(options),
      drivers: { ...Object.fromEntries(others), scripted: { driver: scripted } }
    })
  })).pipe(
    Layer.provideMerge(Script.layer(options.script ?? (options.procedural === true ? ScriptedDriver.scriptOf : {})))
  )

/** The models of the test. Without `procedural`, models of other drivers than those of the test use the scripted one. */
const modelsOf = ({ drivers = {}, models = DefaultModels.models, procedural = false }: TestHostOptions) =>
  procedural ?
    models :
    models.map((model): Model.ModelInput =>
      Object.hasOwn(drivers, model.driver.name) ? model : { ...model, driver: { name: "scripted", options: {} } }
    )

/** A driver during whose calls time stands still, since they take real time. */
const stillDriver = (driver: Driver.Driver, still: VirtualTime.VirtualTime["Service"]["still"]): Driver.Driver => ({
  ...driver,
  generator: (options) =>
    Result.map(driver.generator(options), (layer) =>
      Layer.effect(
        Generator.Generator,
        Effect.map(Generator.Generator, ({ callsBack, cancel, collect, poll, resubmit, submit }) =>
          Generator.Generator.of({
            resubmit,
            callsBack,
            submit: (request) => still(submit(request)),
            poll: (operation) => still(poll(operation)),
            cancel: (operation) => still(cancel(operation)),
            collect: (operation) => still(collect(operation))
          }))
      ).pipe(Layer.provide(layer)))
})

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
        inspect: (bytes, options) => still(media.inspect(bytes, options)),
        normalise: (bytes, options) => still(media.normalise(bytes, options)),
        preview: (bytes, options) => still(media.preview(bytes, options)),
        thumb: (bytes) => still(media.thumb(bytes)),
        probe: (file, declared) => still(media.probe(file, declared)),
        firstFrame: (file, facts) => still(media.firstFrame(file, facts)),
        watermark: (bytes) => still(media.watermark(bytes)),
        canWatermarkVideos: still(media.canWatermarkVideos),
        watermarkVideo: (file, facts) => still(media.watermarkVideo(file, facts))
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
