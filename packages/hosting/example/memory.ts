import { Accounts } from "@kinora/accounts"
import { Host, Http, Webhook } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { Console, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"

const services = Host.layerMemory({ urlSigningKeys: [Redacted.make("a secret of at least 32 bytes that signs URLs")] })
  .pipe(
    Layer.provideMerge(Webhook.layerProtection({ keys: [Redacted.make("a secret of at least 32 bytes for webhooks")] }))
  )

/** A server without workers: it accepts jobs and does not run them. */
const server = Http.layer({ host: "127.0.0.1", port: 0, interface: {} }).pipe(
  Layer.provide(Readiness.layerAlways),
  Layer.provideMerge(services)
)

const program = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const origin = yield* HttpServer.addressFormattedWith(Effect.succeed)
  const { id } = yield* accounts.create({ email: "ada@example.com" })
  const { key } = yield* accounts.createKey(id, "first")
  const headers = { authorization: `Bearer ${Redacted.value(key)}` }
  const response = yield* Effect.promise(() => fetch(`${origin}/v1/models`, { headers }))
  yield* Console.log(response.status, response.headers.get("x-ratelimit-limit"))
})

await Effect.runPromise(Effect.provide(program, server))
// 200 300
