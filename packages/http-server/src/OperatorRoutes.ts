/**
 * The routes of a listener for operators alone: `/healthz`, `/readyz`, `/metrics` and, with
 * `adminToken`, the operator API, its reference and the API of the console. `HttpServerRoutes` of the listener for clients has
 * `operatorRoutes: false` in this case.
 */
import { MonitoringApi } from "@kinora/http-api/Api"
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as AdminRoutes from "./AdminRoutes.ts"
import * as ConsoleRoutes from "./ConsoleRoutes.ts"
import { defaults, type HttpServerOptions } from "./HttpServerOptions.ts"
import * as Edge from "./middleware/edge.ts"
import { operatorRoutes } from "./middleware/routeTable.ts"
import * as SchemaErrors from "./middleware/schemaErrors.ts"
import type { Readiness } from "./Readiness.ts"
import * as DocumentRoutes from "./routes/documents.ts"
import * as HealthRoutes from "./routes/health.ts"

/** The services that the routes need. */
export type Requirements = ConsoleRoutes.Requirements | AdminRoutes.Requirements | Readiness

/** The routes with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  const api = HttpApiBuilder.layer(MonitoringApi).pipe(
    Layer.provide([HealthRoutes.layer, HealthRoutes.layerMonitoring(all)]),
    Layer.provide(SchemaErrors.layer)
  )
  // Pages of this listener are on its own origin.
  const own = { ...all, baseUrl: undefined, consoleUrl: all.consoleUrl ?? all.baseUrl }
  const console = all.adminToken === undefined ? Layer.empty : ConsoleRoutes.layerWith(own)
  const docs = all.adminToken === undefined || !all.docs ? Layer.empty : DocumentRoutes.layerOperatorPage(own)
  return Layer.mergeAll(api, AdminRoutes.layerWith(own), console, docs, Edge.layer(all, operatorRoutes(all)))
}
