import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { PlanTable } from "@kinora/accounts"
import * as Generations from "@kinora/generations/Generations"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Host from "./Host.ts"
const plans = PlanTable.defaults
const big = {
  ...plans,
  free: { ...plans.free, createRpm: 1e9 },
  credits: { ...plans.credits, pro: { ...plans.credits.pro, createRpm: 1e9, concurrency: 1e6 } }
}
const routes = HttpServerRoutes.layerWith({
  keyRequestsPerMinute: 1e9,
  plans: big,
  docs: false,
  failedAuthenticationsPerMinute: 1e9
})
const setup = Layer.effectDiscard(Effect.gen(function*() {
  const { account, key } = yield* Host.openAccount({ credits: 1e9 })
  const g = yield* Host.addCompleted(account, new Uint8Array(65536))
  writeFileSync("/tmp/bench/env.json", JSON.stringify({ key: Redacted.value(key), id: g.id }))
}))
NodeRuntime.runMain(Layer.launch(
  Layer.mergeAll(HttpRouter.serve(routes, { disableLogger: true }), setup).pipe(
    Layer.provide(Generations.layerWith({ planTable: big })),
    Layer.provide(Host.services),
    Layer.provide(NodeHttpServer.layer(() => createServer(), { port: 3199 }))
  )
))
