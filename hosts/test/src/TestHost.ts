/**
 * The whole service for tests: in memory, in this process, with a scripted generator
 * and with time that stands still until a test advances it.
 *
 *     const kinora = await TestHost.start()
 *     const response = await kinora.fetch("/v1/models")
 *     await kinora.stop()
 *
 * With Effect, provide `layer`, which also outputs every service of the product.
 */
import { Changes, Generation, GenerationStore } from "@kinora/generations"
import { Http } from "@kinora/hosting"
import { Context, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import type { Controls, FinalStatus, TestAccount } from "./Controls.ts"
import * as Accounts from "./internal/accounts.ts"
import * as GeneratorControls from "./internal/generatorControls.ts"
import * as LocalFetch from "./internal/localFetch.ts"
import * as Services from "./internal/services.ts"
import * as Webhooks from "./internal/webhooks.ts"
import * as RunningHost from "./RunningHost.ts"
import {
  type AccountOptions,
  defaultAdminToken,
  defaultBaseUrl,
  defaultResultTtl,
  type TestHostOptions
} from "./TestHostOptions.ts"
import { VirtualTime } from "./VirtualTime.ts"

/** A running service and the controls of a test over it. */
export class TestHost extends Context.Service<TestHost, Controls>()("@kinora/host-test/TestHost") {}

/**
 * A test host with the clock that it runs on and all services of the product. Each
 * build is an independent host. Fails with `InvalidCatalog` if the models cannot be
 * served.
 */
export const layer = (options: TestHostOptions = {}) =>
  Layer.fresh(Layer.effect(TestHost, make(options)).pipe(Layer.provideMerge(Services.layer(options))))

/** Starts a test host. Rejects with `InvalidCatalog` if the models cannot be served. */
export const start = (options: TestHostOptions = {}): Promise<RunningHost.RunningHost> =>
  Effect.runPromise(Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layer(options), scope).pipe(
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    return RunningHost.make(Context.get(context, TestHost), context, Scope.close(scope, Exit.void))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const make = Effect.fnUntraced(function*(options: TestHostOptions) {
  const { end } = yield* Changes.Changes
  const time = yield* VirtualTime
  const open = yield* Accounts.make
  const adminToken = options.adminToken ?? defaultAdminToken
  const http: Http.InterfaceOptions = {
    ...options.http,
    adminToken: options.adminToken === null ? undefined : Redacted.make(adminToken),
    resultTtl: Duration.fromInputUnsafe(options.resultTtl ?? defaultResultTtl)
  }
  const baseUrl = http.baseUrl ?? defaultBaseUrl
  const fetchAs = yield* LocalFetch.make(baseUrl, http)

  const createAccount = Effect.fn("TestHost.createAccount")(function*(options: AccountOptions = {}) {
    const account = yield* open(options)
    return { ...account, fetch: fetchAs(account.apiKey) } satisfies TestAccount
  })
  const account = yield* createAccount(options.account)

  /** Ends long polls and streams before connections are closed. */
  const layerAnswered = Layer.effectDiscard(Effect.addFinalizer(() => Effect.andThen(end, time.rest)))
  const server = layerAnswered.pipe(
    Layer.provideMerge(Http.layer({ host: "127.0.0.1", port: 0, interface: http, grace: 0 }))
  )
  const listen = yield* Layer.buildWithScope(server, yield* Effect.scope).pipe(
    Effect.flatMap((context) => Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), context)),
    Effect.provideContext(yield* Effect.context<Layer.Services<typeof server>>()),
    // This host has one listener.
    Effect.catchTag("OperatorListenerFailed", Effect.die),
    Effect.cached
  )
  const outgoing = yield* Webhooks.Outgoing
  yield* Effect.addFinalizer(() => Effect.andThen(end, outgoing.end))

  return TestHost.of({
    baseUrl,
    adminToken,
    account,
    createAccount,
    fetch: account.fetch,
    generator: yield* GeneratorControls.make,
    webhooks: yield* Webhooks.makeControls(account.id),
    time,
    settled: yield* makeSettled,
    listen
  })
})

const makeSettled = Effect.gen(function*() {
  const changes = yield* Changes.Changes
  const store = yield* GenerationStore.GenerationStore

  return Effect.fn("TestHost.settled")(function*(text: string) {
    const id = Generation.GenerationId.parse(text)
    if (id === undefined) return yield* unknown(text)
    const changed = yield* changes.watch(id)
    while (true) {
      const [generation] = yield* store.find([id])
      if (generation === undefined) return yield* unknown(text)
      if (isFinal(generation.status)) return generation.status
      if (!(yield* changed)) return yield* Effect.die(new Error(`The test host stopped before the job ${text} ended`))
    }
  }, Effect.scoped)
})

const unknown = (id: string) => Effect.die(new Error(`There is no job ${id}`))

const isFinal = (status: Generation.Status): status is FinalStatus => Generation.isFinal(status)
