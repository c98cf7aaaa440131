import { NodeHttpServer } from "@effect/platform-node"
import { HttpServerRoutes, Readiness } from "@kinora/http-server"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { IpNetwork } from "effect/net"
import { createServer } from "node:http"

/** Serves the API on a free port, behind a proxy in a private network. */
export const host = HttpRouter.serve(
  HttpServerRoutes.layerWith({
    baseUrl: "https://api.example.com",
    trustedProxies: [IpNetwork.fromStringUnsafe("10.0.0.0/8")]
  }),
  { disableLogger: true }
).pipe(
  Layer.provide(Readiness.layerAlways),
  Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, gracefulShutdownTimeout: "25 seconds" }))
)
