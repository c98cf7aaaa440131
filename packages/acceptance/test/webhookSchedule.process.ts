/**
 * Measures the schedule of webhooks in real time: a server sends to a receiver that always responds with 500, and the
 * delays are printed. Takes six and a half minutes: node --conditions=@kinora/source
 * packages/acceptance/test/webhookSchedule.process.ts [url of an empty Postgres]
 */
import { Console, Effect, Schedule, Schema } from "effect"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import * as Receivers from "../src/Receivers.ts"
import * as Site from "../src/Site.ts"

const [databaseUrl = ""] = process.argv.slice(2)
const adminToken = "the-operator-of-a-server-whose-webhooks-are-timed"

const Account = Schema.fromJsonString(Schema.Struct({ id: Schema.String }))
const Issued = Schema.fromJsonString(Schema.Struct({ id: Schema.String, secret: Schema.String }))
const Deliveries = Schema.fromJsonString(Schema.Struct({
  data: Schema.Array(Schema.Struct({ status: Schema.String, failed_sends: Schema.Int }))
}))

const program = Effect.gen(function*() {
  const site = yield* Site.make({ databaseUrl })
  const receivers = yield* Receivers.make()
  const receiver = yield* Effect.acquireRelease(
    Effect.promise(() => receivers.start()),
    (receiver) => Effect.promise(() => receiver[Symbol.asyncDispose]())
  )
  const { baseUrl } = yield* Program.startServer({
    ...site.environment,
    ...receivers.environment,
    KINORA_ADMIN_TOKEN: adminToken
  })
  const ask = (method: string, path: string, body?: object) =>
    Effect.map(
      Client.send(`${baseUrl}/admin/v1/accounts${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) })
      }),
      ({ bytes }) => new TextDecoder().decode(bytes)
    )

  const account = yield* Schema.decodeEffect(Account)(yield* ask("POST", "", { email: "schedule@example.com" }))
  const inbox = receiver.inbox(() => ({ status: 500 }))
  const endpoints = `/${account.id}/webhook-endpoints`
  const endpoint = yield* Schema.decodeEffect(Issued)(yield* ask("POST", endpoints, { url: inbox.url }))
  inbox.trust([endpoint.secret])
  yield* ask("POST", `${endpoints}/${endpoint.id}/test`)

  for (const [n, wanted] of [10, 60, 300].entries()) {
    const arrivals = yield* Effect.promise(() => inbox.until(n + 2))
    const ended = yield* Effect.promise(() => arrivals[n]?.ended ?? Promise.resolve(0))
    const pause = ((arrivals[n + 1]?.at ?? 0) - ended) / 1_000
    yield* Console.log(
      `send ${n + 2} came ${pause.toFixed(3)} s after send ${n + 1} had failed instead of ${wanted} s`
    )
  }
  const look = Effect.flatMap(
    ask("GET", `${endpoints}/${endpoint.id}/deliveries`),
    (text) => Schema.decodeEffect(Deliveries)(text)
  )
  const { data: [delivery] } = yield* Effect.repeat(look, {
    until: ({ data: [delivery] }) => delivery?.status !== "pending",
    schedule: Schedule.spaced("1 second")
  })
  yield* Console.log(
    `${inbox.arrivals.length} sends, then the delivery is ${delivery?.status} (${delivery?.failed_sends})`
  )
})

await Effect.runPromise(Effect.scoped(program))
