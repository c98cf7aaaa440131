/** Webhooks of complete hosts, from a client's request to a receiver that verifies them. */
import { assert, describe, it } from "@effect/vitest"
import { WorkerHost } from "@kinora/host-worker"
import { Settings } from "@kinora/hosting"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Webhook } from "@kinora/webhook-signing"
import { Clock, Deferred, Effect, Exit, Fiber, Latch, Layer, Queue, Scope } from "effect"
import * as Receiver from "./Receiver.ts"
import * as Site from "./Site.ts"

/** Time limit in milliseconds. The tests paint images. */
const timeout = 600_000

describe("webhooks", { timeout }, () => {
  it.live("are sent by a server without a worker process, with links to its address", () =>
    Effect.gen(function*() {
      const receiver = yield* Receiver.listen
      const server = yield* Site.startServer(yield* Site.make(""), yield* Effect.scope)
      const { secret } = yield* Site.register(server, receiver.url)
      const { id } = yield* Site.createJob(server)
      yield* assertJobReported(receiver, secret, id, server.baseUrl)
    }))

  it.live("are sent by a worker process if the server sends none, with links to the server", () =>
    Effect.gen(function*() {
      const receiver = yield* Receiver.listen
      const environment = yield* Site.make(yield* TestDatabase.postgresUrl)
      const server = yield* Site.startServer(
        { ...environment, KINORA_WORKERS: "0", KINORA_WEBHOOK_SENDS: "0" },
        yield* Effect.scope
      )
      yield* startWorker({ ...environment, KINORA_BASE_URL: server.baseUrl })
      const { secret } = yield* Site.register(server, receiver.url)
      const { id } = yield* Site.createJob(server)
      yield* assertJobReported(receiver, secret, id, server.baseUrl)
    }))

  it.live("in progress when the server stops are completed and not sent again", () =>
    Effect.gen(function*() {
      const { endpoint, environment, receiver, scope, server } = yield* startSending

      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* untilRefused(server)
      assert.isUndefined(stopping.pollUnsafe())
      yield* receiver.answers.open
      yield* Fiber.join(stopping)
      const next = yield* Site.startServer(environment, yield* Effect.scope)
      assert.deepStrictEqual(yield* Site.reasons(next, endpoint), ["ok"])
    }))

  it.live("to a receiver that never responds delay the stop by at most the time limit of a send", () =>
    Effect.gen(function*() {
      const { endpoint, environment, scope } = yield* startSending
      const asked = yield* Clock.currentTimeMillis
      yield* Scope.close(scope, Exit.void)
      assert.isBelow((yield* Clock.currentTimeMillis) - asked, 15_000)
      const next = yield* Site.startServer({ ...environment, KINORA_WEBHOOK_SENDS: "0" }, yield* Effect.scope)
      assert.deepStrictEqual(yield* Site.reasons(next, endpoint), ["timeout"])
    }))

  it.live("stop the start of a process that lacks the key of an endpoint's secret", () =>
    Effect.gen(function*() {
      const environment = yield* Site.make(yield* TestDatabase.postgresUrl)
      const server = yield* Site.startServer(environment, yield* Effect.scope)
      yield* Site.register(server, "http://127.0.0.1:1/hooks")
      const settings = yield* Settings.load({
        ...environment,
        KINORA_ADMIN_PORT: "0",
        KINORA_WEBHOOK_KEYS: "another-key-than-the-one-that-was-made"
      })
      const error = yield* Effect.flip(Layer.build(WorkerHost.layer(settings, () => Effect.void)))
      assert.match(error.message, /^KINORA_WEBHOOK_KEYS lacks the key that encrypted the secret of whep_/)
    }))
})

const startWorker = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
  const ready = yield* Deferred.make<void>()
  const settings = yield* Settings.load({ ...environment, KINORA_ADMIN_PORT: "0" })
  yield* Layer.build(WorkerHost.layer(settings, () => Effect.asVoid(Deferred.succeed(ready, undefined))))
  yield* Deferred.await(ready)
})

/** Starts a server with a send in progress. The receiver responds once the test opens `answers`. */
const startSending = Effect.gen(function*() {
  const receiver = yield* Receiver.listen
  const environment = yield* Site.make(yield* TestDatabase.postgresUrl)
  const scope = yield* Scope.make()
  const server = yield* Site.startServer(environment, scope)
  const endpoint = yield* Site.register(server, receiver.url)
  yield* Latch.close(receiver.answers)
  yield* Site.test(server, endpoint)
  yield* Queue.take(receiver.arrived)
  return { endpoint, environment, receiver, scope, server }
})

type Listening = Effect.Success<typeof Receiver.listen>

interface EventData {
  readonly generation: { readonly id: string; readonly output: { readonly url: string } | null }
}

/** Verifies the signature of a webhook and returns its event. */
const verify = ({ body, headers }: Receiver.Arrival, secret: string) =>
  Effect.promise(async () => (await Webhook.verify<Webhook.Event<string, EventData>>({ body, headers, secret })).event)

/** Asserts that the events of the job's start and end arrive and that the link works without a key. */
const assertJobReported = Effect.fnUntraced(function*(
  receiver: Listening,
  secret: string,
  id: string,
  baseUrl: string
) {
  const arrivals = yield* Queue.takeN(receiver.arrived, 2)
  const events = yield* Effect.forEach(arrivals, (arrival) => verify(arrival, secret))
  const types = new Map(events.map((event) => [event.type, event]))
  assert.deepStrictEqual([...types.keys()].toSorted(), ["generation.completed", "generation.started"])
  for (const { data } of events) assert.strictEqual(data.generation.id, id)
  const link = types.get("generation.completed")?.data.generation.output?.url ?? ""
  assert.isTrue(link.startsWith(`${baseUrl}/v1/generations/${id}/content?`), link)
  const content = yield* Effect.promise((signal) => fetch(link, { signal }))
  assert.strictEqual(content.status, 200)
})

/** Waits until the server refuses connections. */
const untilRefused = ({ baseUrl }: { readonly baseUrl: string }) =>
  Effect.tryPromise((signal) => fetch(`${baseUrl}/healthz`, { signal })).pipe(Effect.forever, Effect.ignore)
