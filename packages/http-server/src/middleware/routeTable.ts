/** The paths of the API and their methods, for metrics and for 405. */
import { Callbacks } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Api, ClientApi, MonitoringApi } from "@kinora/http-api/Api"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as AdminDocument from "../routes/admin/document.ts"
import * as ConsoleDocument from "../routes/console/document.ts"
import * as ConsolePages from "../routes/console/pages.ts"
import * as Documents from "../routes/documents.ts"
import * as PaymentWebhooks from "../routes/paymentWebhooks.ts"
import { Route } from "./metrics.ts"

/** Stands for every path that does not exist. */
export const unknownRoute = new Route("unknown", [])

const documentMethods = ["GET", "HEAD"]

/** `route` is the path of the route if it also has other paths. */
type Paths = ReadonlyArray<readonly [path: string, methods: ReadonlyArray<string>, route?: string]>

const pathsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Paths => {
  const byPath = new Map<string, Array<string>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      const methods = byPath.get(path) ?? []
      byPath.set(path, methods)
      // Every path that supports GET supports HEAD.
      methods.push(...(method === "GET" ? documentMethods : [method]))
    }
  })
  return [...byPath]
}

/** Every path once, under GET: the methods of a path are those of its `Route`. */
const routerOf = (paths: Paths): FindMyWay.Router<Route> => {
  const router = FindMyWay.make<Route>()
  for (const [path, methods, route = path] of paths) router.on("GET", path as `/${string}`, new Route(route, methods))
  return router
}

const documentPaths: Paths = [["/openapi.json", documentMethods]]
const rootPaths: Paths = [["/", documentMethods]]
const pagePaths: Paths = [["/docs", documentMethods, Documents.route], [Documents.route, documentMethods]]

const adminPaths: Paths = [...pathsOf(AdminApi), [AdminDocument.path, documentMethods]]

const consolePaths: Paths = [
  ...pathsOf(ConsoleApi),
  [ConsoleDocument.path, documentMethods],
  [ConsolePages.apiRoute, []],
  ["/console", documentMethods, ConsolePages.route],
  [ConsolePages.route, documentMethods]
]

type Options = Pick<HttpServerOptions, "adminToken" | "console" | "docs" | "operatorRoutes">

/** The paths of a listener for clients. With `operatorRoutes` it is the only listener, and also has those for operators. */
export const clientRoutes = ({ adminToken, console, docs, operatorRoutes }: Options): FindMyWay.Router<Route> =>
  routerOf([
    ...(operatorRoutes ? pathsOf(Api) : pathsOf(ClientApi)),
    ...documentPaths,
    ...(docs || console ? rootPaths : []),
    ...(docs ? pagePaths : []),
    ...(console ? consolePaths : []),
    [Callbacks.route, ["POST"]],
    [PaymentWebhooks.route, ["POST"]],
    ...(operatorRoutes && adminToken !== undefined ? adminPaths : [])
  ])

/** The paths of a listener for operators alone. */
export const operatorRoutes = ({ adminToken, console, docs }: Options): FindMyWay.Router<Route> =>
  routerOf([
    ...pathsOf(MonitoringApi),
    ...(adminToken === undefined ? [] : adminPaths),
    ...(adminToken === undefined || !docs ? [] : pagePaths),
    ...(adminToken === undefined || !console ? [] : consolePaths)
  ])
