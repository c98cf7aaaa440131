/**
 * The composition root: every layer of a server and of a worker, from settings to the
 * open port. Read it from top to bottom.
 *
 * A server first waits for `drain`, still accepting requests. Then it refuses
 * connections and starts the drains of workers and webhooks, which run while open requests
 * end. The database closes last.
 */
import { Callbacks, GenerationQueue } from "@kinora/generations"
import { Sweep } from "@kinora/persistence"
import { Scheduler } from "@kinora/scheduler"
import { BlobStore, FileBlobStore, ResponsiveBlobStore, UrlSigner } from "@kinora/storage"
import { Deferred, type Duration, Effect, Layer, type Redacted } from "effect"
import { HttpServer } from "effect/http"
import { hostname } from "node:os"
import { join } from "node:path"
import * as ClockCheck from "./ClockCheck.ts"
import * as ConfigurationCheck from "./ConfigurationCheck.ts"
import * as Crypto from "./Crypto.ts"
import * as Database from "./Database.ts"
import * as DataDirectory from "./DataDirectory.ts"
import * as Drivers from "./Drivers.ts"
import * as Http from "./Http.ts"
import * as StopDeadline from "./internal/stopDeadline.ts"
import * as Keys from "./Keys.ts"
import * as Moderation from "./Moderation.ts"
import * as Notifications from "./Notifications.ts"
import * as Oidc from "./Oidc.ts"
import * as OperatorListener from "./OperatorListener.ts"
import * as Payments from "./Payments.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as Services from "./Services.ts"
import type { Settings } from "./Settings.ts"
import * as Stores from "./Stores.ts"
import * as Webhook from "./Webhook.ts"
import * as Work from "./Work.ts"

/** Options for `layerServer`, `layerWorker` and `layerWorking`. */
export interface HostOptions extends Pick<Drivers.DriversOptions, "drivers"> {}

/**
 * A server: the HTTP interface, and a worker in the same process. `onListening` gets
 * the origin that the server listens on, and runs once it accepts requests.
 */
export const layerServer = <E, R>(
  settings: Settings,
  onListening: (origin: string) => Effect.Effect<void, E, R>,
  options: HostOptions = {}
) =>
  Layer.unwrap(Effect.gen(function*() {
    const providers = yield* Oidc.fromFile(settings.console ? settings.oidc : undefined)
    const origin = yield* Deferred.make<string>()
    const announce = Effect.gen(function*() {
      const listening = yield* HttpServer.addressFormattedWith(Effect.succeed)
      yield* Deferred.succeed(origin, listening)
      yield* onListening(listening)
    })
    const work = layerWork({
      worker: { name: `${hostname()}/server/${process.pid}`, ...workerOf(settings) },
      sender: { sends: settings.webhookSends, baseUrl: settings.baseUrl ?? Deferred.await(origin) },
      callbackOrigin: settings.callbackOrigin,
      retention: settings.retention,
      sweepDeadline: settings.sweepDeadline
    }).pipe(
      Layer.merge(GenerationQueue.layerMonitor()),
      Layer.merge(ConfigurationCheck.layer({ name: `${hostname()}/server/${process.pid}`, role: "server" }))
    )
    return Layer.effectDiscard(announce).pipe(
      Layer.provide(StopDeadline.part("requests")(Layer.provide(layerHttp(settings), providers))),
      Layer.provideMerge(work.pipe(Layer.provide(Webhook.layerTransport))),
      Layer.provide(Layer.mergeAll(layerReadiness(settings), layerUrlSigner(settings))),
      Layer.provideMerge(settings.metrics ? ProcessMetrics.layer : Layer.empty),
      Layer.provide(layerWorking(settings, options))
    )
  }))

/**
 * A worker: runs jobs, sends webhooks and sweeps, without the API for clients. Links in
 * webhooks lead to a server. The listener for operators has its metrics and readiness.
 */
export const layerWorker = (settings: Settings, options: HostOptions = {}) => {
  const work = layerWork({
    worker: { name: `${hostname()}/worker/${process.pid}`, ...workerOf(settings) },
    sender: {
      sends: settings.webhookSends,
      baseUrl: settings.baseUrl ?? Effect.succeed(Http.originOf(settings))
    },
    callbackOrigin: settings.callbackOrigin,
    retention: settings.retention,
    sweepDeadline: settings.sweepDeadline
  }).pipe(
    Layer.merge(ConfigurationCheck.layer({ name: `${hostname()}/worker/${process.pid}`, role: "worker" }))
  )
  return Http.layerWorker(work, { operator: OperatorListener.ofWorker(settings), metrics: settings.metrics }).pipe(
    Layer.provide([Webhook.layerTransport, layerUrlSigner(settings), layerReadiness(settings)]),
    Layer.provideMerge(settings.metrics ? ProcessMetrics.layer : Layer.empty),
    Layer.provide(layerWorking(settings, options))
  )
}

/** Options for `layerWork`. */
export interface WorkOptions {
  readonly worker: Omit<Work.WorkOptions, "callbackUrlOf">
  readonly sender: Webhook.WorkerOptions
  /** Origin that leads upstreams to a server with the keys of this `UrlSigner`. Default: upstreams are polled only. */
  readonly callbackOrigin?: string | undefined
  /** How long old rows are kept. Default: that of `Work.layerSweeps`. */
  readonly retention?: Work.Retention | undefined
  /** Time in which one set of a sweep has to end. Default: that of `Sweep.Deadline`. */
  readonly sweepDeadline?: Duration.Input | undefined
}

/** Background work: runs jobs, sends webhooks and sweeps. Requires the services, generators, a `UrlSigner` and a `Transport`. */
export const layerWork = ({ callbackOrigin, retention, sender, sweepDeadline, worker }: WorkOptions) =>
  Layer.mergeAll(
    Layer.unwrap(Effect.map(UrlSigner.UrlSigner, (signer) =>
      Work.layerWorker({
        ...worker,
        callbackUrlOf: callbackOrigin === undefined
          ? undefined
          : (id, expiresAt) => UrlSigner.urlOf(signer, callbackOrigin, Callbacks.pathOf(id), expiresAt)
      }))).pipe(StopDeadline.part("jobs")),
    StopDeadline.part("webhooks")(Webhook.layerWorker(sender)),
    StopDeadline.part("sweeps")(Work.layerSweeps(retention)).pipe(
      Layer.provide(sweepDeadline === undefined ? Layer.empty : Layer.succeed(Sweep.Deadline, sweepDeadline))
    )
  )

/** The services and the drivers that a process needs to run jobs. Drivers and models are checked before the database is opened. */
export const layerWorking = (settings: Settings, { drivers }: HostOptions = {}) =>
  layer(settings).pipe(
    Layer.provideMerge(Drivers.layer({ drivers, driverFile: settings.driverFile, models: settings.models }))
  )

/** The services over the database and the files that the settings name. Brings the schema up to date first. */
export const layer = (settings: Settings) =>
  Layer.unwrap(Effect.gen(function*() {
    const { inputPixelsPerMinute, media, models, planTable, uploads, webhookTtl } = settings
    const isEmbedded = settings.databaseUrl === undefined
    const moderation = yield* Moderation.fromFile(settings.moderation)

    const surroundings = Layer.mergeAll(
      Stores.layerSqlWith({ deadline: settings.databaseUnit }),
      layerFiles(settings),
      isEmbedded ? Notifications.layerLocal : Notifications.layer.pipe(Layer.provide(Crypto.layerSecureRandom)),
      Webhook.layerProtectionOf(settings)
    )
    const checks = Layer.mergeAll(
      Layer.effectDiscard(Webhook.checkKeys(settings)),
      // The directory belongs to this process, so the workers that held leases in its database have ended. The embedded
      // database has the clock of this host.
      isEmbedded ? layerTakeOver : ClockCheck.layer({ skewMax: settings.clockSkewMax })
    )
    return checks.pipe(
      Layer.provideMerge(
        Services.layer({
          downloadAdvance: "100 millis",
          inputPixelsPerMinute,
          media,
          models,
          moderation: moderation.layer,
          paymentProvider: Payments.layerProviderOf(settings),
          planTable,
          requestAdvance: "100 millis",
          sessions: settings.sessions,
          uploads,
          webhooks: { keepFor: webhookTtl }
        })
      ),
      Layer.provideMerge(Layer.succeed(Moderation.CurrentRules, moderation.rules)),
      Layer.provideMerge(surroundings),
      Layer.provideMerge(layerDatabase(settings))
    )
  }))

/** Brings the schema of the database up to date without starting a host. Returns the names of the packages with tables. */
export const migrate = (settings: Settings) =>
  Effect.scoped(Effect.as(Layer.build(layerDatabase(settings)), Stores.migrations.map(({ namespace }) => namespace)))

/** Options for `layerMemory`. */
export interface MemoryOptions extends Services.ServicesOptions {
  /** Keys of signed URLs: the first signs, all verify. */
  readonly urlSigningKeys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}

/** The services in the memory of this process. Requires `Webhook.layerProtection`. */
export const layerMemory = ({ urlSigningKeys: keys, ...options }: MemoryOptions) =>
  Services.layer(options).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Stores.layerMemory,
      BlobStore.layerMemory,
      Notifications.layerLocal,
      UrlSigner.layer({ keys })
    ))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The database of the settings, with the schema up to date. */
const layerDatabase = (settings: Settings) =>
  Layer.unwrap(Effect.gen(function*() {
    const {
      databaseIdle,
      databaseLock,
      databasePoolSize,
      databaseStatement,
      databaseUnit,
      databaseUrl: url,
      dataDirectory
    } = settings
    // Processes that share a Postgres may share their files. An embedded database belongs to one process.
    yield* url === undefined ? DataDirectory.acquire(dataDirectory) : DataDirectory.make(dataDirectory)
    const options = {
      url,
      dataDirectory,
      migrations: Stores.migrations,
      maxConnections: databasePoolSize,
      statementMax: databaseStatement,
      unitMax: databaseUnit,
      lockMax: databaseLock,
      idleMax: databaseIdle
    }
    return Database.layerMigrations(options, Stores.migrations).pipe(
      Layer.provideMerge(StopDeadline.part("database")(Database.layer(options)))
    )
  }))

const workerOf = ({ jobGrace, jobLease, media, resultTtl, workerModels, workerReserved, workers }: Settings) => ({
  concurrency: workers,
  reserved: workerReserved,
  derivedMax: media.concurrency,
  resultTtl,
  models: workerModels,
  lease: jobLease,
  grace: jobGrace
})

const layerFiles = ({ dataDirectory, partialFileAge, partialFileInterval, storageSilence }: Settings) =>
  ResponsiveBlobStore.layer({ silenceMax: storageSilence }).pipe(
    Layer.provide(FileBlobStore.layer({
      directory: join(dataDirectory, DataDirectory.entries.files),
      // Players ask for one range after the other.
      keepOpen: "1 second",
      partialAgeMax: partialFileAge,
      partialInterval: partialFileInterval
    }))
  )

const layerUrlSigner = (settings: Settings) =>
  Layer.unwrap(Effect.map(Keys.urlSigning(settings), (keys) => UrlSigner.layer({ keys })))

const layerReadiness = ({ readinessMax }: Settings) => Http.layerReadinessWith({ responseMax: readinessMax })

/** Jobs and webhooks drain while requests end, so that a server stops within one grace period. */
const layerHttp = (settings: Settings) =>
  Layer.unwrap(Effect.map(Effect.all([Work.startDrain, Webhook.startDrain]), (drains) =>
    Http.layer({
      host: settings.host,
      port: settings.port,
      connectionsMax: settings.connectionsMax,
      addressConnectionsMax: settings.addressConnectionsMax,
      interface: Http.interfaceOf(settings),
      operator: OperatorListener.ofServer(settings),
      drain: settings.drain,
      grace: settings.requestGrace,
      onStop: Effect.all(drains, { discard: true })
    })))

const layerTakeOver = Layer.effectDiscard(
  Scheduler.Scheduler.use((scheduler) => scheduler.endLeases).pipe(
    Effect.tap((jobs) =>
      jobs === 0 ? Effect.void : Effect.logInfo("Jobs of the previous process are taken over", { jobs })
    )
  )
)
