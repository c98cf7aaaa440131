/** The listeners for clients and for operators, and their graceful shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Changes } from "@kinora/generations"
import { AdminRoutes, type HttpServerOptions, HttpServerRoutes, OperatorRoutes, Readiness } from "@kinora/http-server"
import { BlobStore, ResponsiveBlobStore } from "@kinora/storage"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Database from "./Database.ts"
import * as Disk from "./internal/disk.ts"
import * as NodeServer from "./internal/nodeServer.ts"
import { findConsole, findReference, isBuilt } from "./internal/pageDirectories.ts"
import * as RejectedConnections from "./internal/rejectedConnections.ts"
import * as RequestContext from "./internal/requestContext.ts"
import * as ResponseWriter from "./internal/responseWriter.ts"
import * as OperatorListener from "./OperatorListener.ts"
import { CurrentPlanTable } from "./Services.ts"
import type { Settings } from "./Settings.ts"

/** Options of the HTTP interface, except for those that the services provide. */
export type InterfaceOptions = Partial<Omit<HttpServerOptions.HttpServerOptions, "plans">>

/** Options for `Http.layer`. */
export interface HttpOptions extends OperatorListener.Address {
  readonly interface: InterfaceOptions
  /**
   * Maximum number of open connections to the listener for clients. Further ones are closed without a response. It also
   * bounds the requests that wait for a job, since those of a connection are handled one after the other. Default 10,000.
   */
  readonly connectionsMax?: number | undefined
  /**
   * Maximum number of these per client address (IPv6: per /48). Further ones are closed without a response. Trusted proxies
   * have no maximum. Default: a quarter of `connectionsMax`.
   */
  readonly addressConnectionsMax?: number | undefined
  /**
   * Maximum number of requests that wait on a connection for the responses to those before. With a further one, the connection
   * is closed, and none of them is handled. Default 32.
   */
  readonly waitingRequestsMax?: number | undefined
  /**
   * Maximum number of bytes of written responses that clients have not received yet. Above it, the connections of the client
   * address (IPv6: of the /48) that leaves the most are closed. Default 128 MiB.
   */
  readonly unreadBytesMax?: number | undefined
  /** The listener for operators. Default `shared`. */
  readonly operator?: OperatorListener.OperatorListener | undefined
  /** How long the server still accepts requests after a stop signal, while `/readyz` returns 503 for load balancers. Default 0. */
  readonly drain?: Duration.Input | undefined
  /** How long requests may continue after the server stops accepting connections. Default 25 seconds. */
  readonly grace?: Duration.Input | undefined
  /** Runs when the server begins to stop, in parallel to the last requests. Must return quickly. */
  readonly onStop?: Effect.Effect<void> | undefined
}

/** Returns whether a server of this installation can show the console: its files are built. */
export const isConsoleBuilt = (): boolean => isBuilt(findConsole())

/** Returns the interface options of a host's settings. */
export const interfaceOf = (settings: Settings): InterfaceOptions => ({
  adminToken: settings.adminToken,
  baseUrl: settings.baseUrl,
  bodyTimeMax: settings.bodyTimeMax,
  console: settings.console,
  consoleDirectory: settings.console ? findConsole() : undefined,
  configuration: settings.shown,
  disk: Disk.spaceOf(settings.dataDirectory),
  consoleUrl: settings.baseUrl ?? (sharesListener(settings) ? undefined : originOf(settings)),
  corsOrigins: settings.corsOrigins,
  downloadBytesPerDay: settings.downloadBytesPerDay,
  downloadLinkShare: settings.downloadLinkShare,
  downloadPicturesMax: settings.downloadPicturesMax,
  downloadStreamsMax: settings.downloadStreamsMax,
  imageWait: settings.imageWait,
  metrics: settings.metrics,
  proxyUserHeader: settings.proxyUserHeader,
  requestTime: settings.requestTime,
  requestsMax: settings.requestsMax,
  responseStallMax: settings.responseStallMax,
  resultDownloadMultiple: settings.resultDownloadMultiple,
  resultTtl: settings.resultTtl,
  smallBodiesBytesMax: settings.smallBodiesBytesMax,
  transferRateMin: settings.transferRateMin,
  trustedProxies: settings.trustedProxies
})

/** Returns the origin that a server with these settings listens on. Used for links if `base_url` is unset. */
export const originOf = ({ host, port }: Pick<Settings, "host" | "port">): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** All routes on one router. The admin API is enabled if `adminToken` is set. */
export const layerRoutes = (options: InterfaceOptions) =>
  withPlans(options, (all) => Layer.mergeAll(HttpServerRoutes.layerWith(all), AdminRoutes.layerWith(all)))

/** The server. `HttpServer.address` is the address of the listener for clients. */
export const layer = (
  {
    connectionsMax = NodeServer.connectionsMax.clients,
    addressConnectionsMax: addressMax = NodeServer.addressMaxOf(connectionsMax),
    drain = 0,
    grace = "25 seconds",
    host,
    interface: options,
    onStop = Effect.void,
    operator = "shared",
    port,
    unreadBytesMax,
    waitingRequestsMax
  }: HttpOptions
) =>
  Layer.unwrap(Effect.map(Readiness.Readiness, (ready) => {
    const { endConnections, server } = NodeServer.make({
      connectionsMax,
      address: { max: addressMax, proxies: options.trustedProxies ?? [] },
      waitingMax: waitingRequestsMax,
      receiving: receivingOf(options, unreadBytesMax)
    })
    const { layerDrain, readiness } = makeDraining(ready, drain)
    const isShared = operator === "shared"
    const routes = isShared
      ? layerRoutes(options)
      : withPlans(options, (all) => HttpServerRoutes.layerWith({ ...all, operatorRoutes: false }))
    // The layer that is built last stops first: the drain, then waiting requests, then the listener for clients, then
    // the one for operators, who can observe the stop.
    const clients = layerDrain.pipe(
      Layer.provideMerge(layerStopWaiting(Effect.andThen(endConnections, onStop))),
      Layer.provideMerge(
        HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
          Layer.provide([Layer.succeed(Readiness.Readiness, readiness), RequestContext.layer, ResponseWriter.layer])
        )
      ),
      Layer.provideMerge(NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout: grace })),
      Layer.provide(RejectedConnections.layer({ server, listener: "clients", addressMax }))
    )
    return isShared
      ? Layer.provideMerge(layerSharedOrigin, clients)
      : Layer.provideMerge(
        clients,
        Layer.provide(layerOperator(operator, options), Layer.succeed(Readiness.Readiness, readiness))
      )
  }))

/** Options for `layerWorker`. */
export interface WorkerOptions extends Pick<InterfaceOptions, "metrics"> {
  readonly operator: OperatorListener.OwnListener
}

/**
 * The work of a process without the API for clients, and the listener for operators, which
 * is open until the work has stopped. It has no operator API.
 */
export const layerWorker = <A, E, R>(
  work: Layer.Layer<A, E, R>,
  { metrics = true, operator }: WorkerOptions
) =>
  Layer.unwrap(Effect.map(Readiness.Readiness, (ready) => {
    const { layerDrain, readiness } = makeDraining(ready, 0)
    return layerDrain.pipe(
      Layer.provideMerge(work),
      Layer.provideMerge(
        layerOperator(operator, { metrics }).pipe(Layer.provide(Layer.succeed(Readiness.Readiness, readiness)))
      )
    )
  }))

/** Options for `layerReadinessWith`. */
export interface ReadinessOptions {
  /** Time in which the database and the file storage have to respond, each. Default 2 seconds. */
  readonly responseMax?: Duration.Input | undefined
}

/** Ready while the database and the file storage can be written, each in time. Concurrent probes share one check. */
export const layerReadinessWith = (
  { responseMax = "2 seconds" }: ReadinessOptions
): Layer.Layer<Readiness.Readiness, never, SqlClient.SqlClient | BlobStore.BlobStore> =>
  Layer.effect(
    Readiness.Readiness,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* ResponsiveBlobStore.make(yield* BlobStore.BlobStore, { silenceMax: responseMax })
      const isDatabaseReady = Effect.provideService(Database.isReadyWithin(responseMax), SqlClient.SqlClient, sql)
      const file = { contentType: "application/octet-stream", bytesMax: 1 }
      const isStorageReady = blobs.put("readiness", Stream.succeed(Uint8Array.of(0)), file).pipe(
        Effect.as(true),
        Effect.catch(() => Effect.succeed(false))
      )
      const check = Effect.map(
        Effect.all({ database: isDatabaseReady, storage: isStorageReady }, { concurrency: 2 }),
        (parts) => Object.entries(parts).flatMap(([name, isReady]) => isReady ? [] : [name])
      )
      return Readiness.Readiness.of({ notReady: yield* Effect.cachedWithTTL(check, 0) })
    })
  )

/** Readiness with the default options. */
export const layerReadiness: Layer.Layer<Readiness.Readiness, never, SqlClient.SqlClient | BlobStore.BlobStore> =
  layerReadinessWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * How long requests of operators may continue after their listener stops accepting connections. A constant: no request of
 * operators waits for a job, and the listener closes after all else has stopped, so the time adds to every grace.
 */
const operatorGrace = Duration.seconds(5)

const withPlans = <A, E, R>(
  options: InterfaceOptions,
  routes: (options: Partial<HttpServerOptions.HttpServerOptions>) => Layer.Layer<A, E, R>
) =>
  Layer.unwrap(Effect.map(CurrentPlanTable, (plans) => routes({ docsDirectory: findReference(), ...options, plans })))

const receivingOf = (
  { responseStallMax = NodeServer.receiving.stallMax, transferRateMin = NodeServer.receiving.rateMin }:
    InterfaceOptions,
  bytesMax = NodeServer.receiving.bytesMax
) => ({ stallMax: responseStallMax, rateMin: transferRateMin, bytesMax })

const listening = HttpServer.addressFormattedWith((origin) => Effect.succeed(Option.some(origin)))

const sharesListener = (settings: Settings): boolean => OperatorListener.ofServer(settings) === "shared"

const layerSharedOrigin = Layer.effect(OperatorListener.OperatorOrigin, listening)

/** The listener for operators alone. */
const layerOperator = (operator: OperatorListener.OwnListener, options: InterfaceOptions) => {
  if (operator === "off") return Layer.succeed(OperatorListener.OperatorOrigin, Option.none())
  const connectionsMax = NodeServer.connectionsMax.operators
  const addressMax = NodeServer.addressMaxOf(connectionsMax)
  const { endConnections, server } = NodeServer.make({
    connectionsMax,
    address: { max: addressMax, proxies: options.trustedProxies ?? [] },
    receiving: receivingOf(options)
  })
  return Layer.effect(
    OperatorListener.OperatorOrigin,
    Effect.andThen(Effect.addFinalizer(() => endConnections), listening)
  ).pipe(
    Layer.provide(HttpRouter.serve(OperatorRoutes.layerWith(options), { disableLogger: true, disableListenLog: true })),
    // `exclusive`: not shared by the processes of a server, each of which has metrics of its own.
    Layer.provide(
      NodeHttpServer.layer(() => server, { ...operator, exclusive: true, gracefulShutdownTimeout: operatorGrace })
    ),
    Layer.provide(RejectedConnections.layer({ server, listener: "operators", addressMax })),
    Layer.catchTag("ServeError", ({ cause }) => {
      const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
      return Layer.effect(
        OperatorListener.OperatorOrigin,
        new OperatorListener.OperatorListenerFailed({ ...operator, code })
      )
    })
  )
}

/** Makes a readiness that reports `draining` after a stop signal, and the layer that waits for the drain. */
const makeDraining = ({ notReady }: Readiness.Readiness["Service"], drain: Duration.Input) => {
  let isDraining = false
  const readiness = Readiness.Readiness.of({
    notReady: Effect.suspend(() => isDraining ? Effect.map(notReady, (names) => [...names, "draining"]) : notReady)
  })
  const wait = Effect.suspend(() => {
    isDraining = true
    return Duration.isZero(Duration.fromInputUnsafe(drain)) ? Effect.void : Effect.sleep(drain)
  })
  return { readiness, layerDrain: Layer.effectDiscard(Effect.addFinalizer(() => wait)) }
}

/** When the server stops, requests that wait for a job return its current state. */
const layerStopWaiting = (andAlso: Effect.Effect<void>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { end } = yield* Changes.Changes
    yield* Effect.addFinalizer(() => Effect.andThen(andAlso, end))
  }))
