/** Serves the interface over HTTP, and stops in good order. */
import { NodeHttpServer } from "@effect/platform-node"
import { Changes } from "@kinora/generations"
import {
  AdminRoutes,
  type HttpServerOptions,
  HttpServerRoutes,
  Readiness,
  UnreadableRequest
} from "@kinora/http-server"
import { BlobStore } from "@kinora/storage"
import { Duration, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Database from "./Database.ts"
import { CurrentPlanTable } from "./Services.ts"
import type { Settings } from "./Settings.ts"

/** What the interface is told, but for what the services know. */
export type InterfaceOptions = Partial<Omit<HttpServerOptions.HttpServerOptions, "plans">>

/** Where to listen, and what the interface is told. */
export interface HttpOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly interface: InterfaceOptions
  /**
   * How long the server goes on as before when it is told to stop, while `/readyz`
   * says that it is draining (D49): load balancers look elsewhere before connections
   * are refused. Default: not at all.
   */
  readonly drain?: Duration.Input | undefined
  /** How long requests may go on when the server stops. Default 25 seconds. */
  readonly grace?: Duration.Input | undefined
  /** What else begins when the server stops, so that it need not wait for the last request. Must not take long. */
  readonly onStop?: Effect.Effect<void> | undefined
}

/** What the settings of a host say of the interface. */
export const interfaceOf = (settings: Settings): InterfaceOptions => ({
  adminToken: settings.adminToken,
  baseUrl: settings.baseUrl,
  downloadBytesPerDay: settings.downloadBytesPerDay,
  downloadStreamsMax: settings.downloadStreamsMax,
  imageWait: settings.imageWait,
  metrics: settings.metrics,
  resultDownloadMultiple: settings.resultDownloadMultiple,
  resultTtl: settings.resultTtl,
  trustedProxies: settings.trustedProxies
})

/** The origin of links that no request asked for, where the settings name none: where a server with these settings listens. */
export const originOf = ({ host, port }: Pick<Settings, "host" | "port">): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** Every route: the interface for clients, and the one for operators where there is a token for it (D50). */
export const layerRoutes = (options: InterfaceOptions) =>
  Layer.unwrap(Effect.map(CurrentPlanTable, (plans) => {
    const all = { ...options, plans }
    return Layer.mergeAll(HttpServerRoutes.layerWith(all), AdminRoutes.layerWith(all))
  }))

/** The server. `HttpServer.address` says where it listens. */
export const layer = (
  { drain = 0, grace = "25 seconds", host, interface: options, onStop = Effect.void, port }: HttpOptions
) =>
  Layer.unwrap(Effect.map(Readiness.Readiness, (ready) => {
    const { endConnections, server } = makeServer()
    const { layerDrain, readiness } = makeDraining(ready, drain)
    // What is built last is the first to go: the drain, then those who wait, then the server.
    return layerDrain.pipe(
      Layer.provideMerge(layerStopWaiting(Effect.andThen(endConnections, onStop))),
      Layer.provideMerge(
        HttpRouter.serve(layerRoutes(options), { disableLogger: true, disableListenLog: true }).pipe(
          Layer.provide(Layer.succeed(Readiness.Readiness, readiness))
        )
      ),
      Layer.provideMerge(NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout: grace }))
    )
  }))

/** Ready while database and file storage answer. */
export const layerReadiness: Layer.Layer<Readiness.Readiness, never, SqlClient.SqlClient | BlobStore.BlobStore> = Layer
  .effect(
    Readiness.Readiness,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* BlobStore.BlobStore
      const isDatabaseReady = Effect.provideService(Database.isReady, SqlClient.SqlClient, sql)
      // Any answer will do; there is no such file.
      const isStorageReady = Effect.as(blobs.head("readiness"), true).pipe(
        Effect.catch(({ reason }) => Effect.succeed(reason._tag === "NotFound"))
      )
      return Readiness.Readiness.of({
        notReady: Effect.map(
          Effect.all({ database: isDatabaseReady, storage: isStorageReady }, { concurrency: 2 }),
          (parts) => Object.entries(parts).flatMap(([name, isReady]) => isReady ? [] : [name])
        )
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * A server, and how to have every connection end: at once, or with the response
 * that is under way. `close` alone would wait for a connection that has not asked
 * for anything yet until it times out, and for one that becomes idle later until
 * its client has been silent for `keepAliveTimeout`.
 */
const makeServer = () => {
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 300_000, headersTimeout: 20_000 })
  const sockets = new Set<Socket>()
  const responses = new Set<ServerResponse>()
  let isEnding = false

  server.on("connection", (socket) => {
    if (isEnding) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })

  const sayLast = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader("connection", "close")
  }
  const watch = (_: IncomingMessage, response: ServerResponse) => {
    responses.add(response)
    if (isEnding) sayLast(response)
    response.once("close", () => {
      responses.delete(response)
      // Its head had been sent when the end began.
      if (isEnding) server.closeIdleConnections()
    })
  }
  server.on("request", watch)
  server.on("checkContinue", watch)
  // What else a client expects is none of our business; Node would refuse it without an envelope.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("clientError", (_, socket) => {
    const underWay = Array.from(responses).find((response) => response.socket === socket && response.headersSent)
    if (!socket.writable) socket.destroy()
    else if (underWay !== undefined) underWay.once("finish", () => socket.end(() => socket.destroy()))
    else socket.end(UnreadableRequest.answer(`req_${randomUUID().replaceAll("-", "")}`), () => socket.destroy())
  })

  const endConnections = Effect.sync(() => {
    isEnding = true
    responses.forEach(sayLast)
    const busy = new Set(Array.from(responses, ({ socket }) => socket))
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
  })
  return { server, endConnections }
}

/** A host that is ready until it is told to stop, and what tells it. */
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

/** When the process stops, those who wait for a job are answered with its state (D51). */
const layerStopWaiting = (andAlso: Effect.Effect<void>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const changes = yield* Changes.Changes
    yield* Effect.addFinalizer(() => Effect.andThen(andAlso, changes.end))
  }))
