/** Responds with a job, by Effect's `HttpApi`. `node httpApiServer.ts` prints `{"base_url": …}` when it is ready. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, References, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { createServer } from "node:http"
import { jobOf } from "./job.ts"

const Job = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  kind: Schema.String,
  status: Schema.String,
  prompt: Schema.String,
  params: Schema.Struct({ aspect_ratio: Schema.String }),
  created_at: Schema.String,
  next: Schema.Struct({ action: Schema.String, after_seconds: Schema.Number })
})

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("generations").add(
    HttpApiEndpoint.get("get", "/v1/generations/:id", { params: { id: Schema.String }, success: Job })
  )
)

const handlers = HttpApiBuilder.group(
  Api,
  "generations",
  (group) => group.handle("get", ({ params }) => Effect.succeed(jobOf(params.id)))
)

const announced = Layer.effectDiscard(
  HttpServer.addressFormattedWith((url) =>
    Effect.sync(() => {
      process.stdout.write(`${JSON.stringify({ base_url: url })}\n`)
    })
  )
)

const server = announced.pipe(
  Layer.provideMerge(HttpRouter.serve(HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers)), {
    disableLogger: true,
    disableListenLog: true
  })),
  Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
)

// Hosts record no spans either, unless they export them.
NodeRuntime.runMain(Effect.provideService(Layer.launch(server), References.TracerEnabled, false))
