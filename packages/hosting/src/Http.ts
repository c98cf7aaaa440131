/** Serves the interface over HTTP, and stops in good order. */
import { NodeHttpServer } from "@effect/platform-node"
import { Changes } from "@kinora/generations"
import { HttpServerOptions, HttpServerRoutes, Readiness } from "@kinora/http-server"
import { BlobStore } from "@kinora/storage"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import * as Database from "./Database.ts"

/** Where to listen, and what the interface is told. */
export interface HttpOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly interface: Partial<HttpServerOptions.HttpServerOptions>
}

/** How long requests may go on when the server stops. */
const gracefulShutdownTimeout = "25 seconds"

/** The server. `HttpServer.address` says where it listens. */
export const layer = ({ host, interface: options, port }: HttpOptions) =>
  // Built after the server, so that it is the first to go.
  layerStopWaiting.pipe(
    Layer.provideMerge(
      HttpRouter.serve(HttpServerRoutes.layerWith(options), { disableLogger: true, disableListenLog: true })
    ),
    Layer.provideMerge(NodeHttpServer.layer(
      () => createServer({ keepAliveTimeout: 65_000, requestTimeout: 300_000, headersTimeout: 20_000 }),
      { host, port, gracefulShutdownTimeout }
    ))
  )

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

/** When the process stops, those who wait for a job are answered with its state (D51). */
const layerStopWaiting = Layer.effectDiscard(Effect.gen(function*() {
  const changes = yield* Changes.Changes
  yield* Effect.addFinalizer(() => changes.end)
}))
