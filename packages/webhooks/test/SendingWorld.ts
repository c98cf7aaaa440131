/** Fixtures for tests of the delivery worker: endpoints, a scripted network, and a store that can fail. */
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { Signature } from "@kinora/webhook-signing"
import { Clock, DateTime, Effect, Exit, Latch, Layer, Queue, Redacted, type Schema, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Delivery, DeliveryId, type Outcome } from "../src/Delivery.ts"
import * as DeliveryWorker from "../src/DeliveryWorker.ts"
import { EndpointId, type SealedSecret } from "../src/Endpoint.ts"
import { EventId } from "../src/Event.ts"
import * as MemoryWebhookStore from "../src/MemoryWebhookStore.ts"
import { SecretBox } from "../src/SecretBox.ts"
import { Transport, type TransportRequest } from "../src/Transport.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { type EndpointRecord, type Settlement, WebhookStore } from "../src/WebhookStore.ts"

export type Backend = WebhookStore | UnitOfWork.UnitOfWork | Wakeup.Wakeup | SecureRandom.SecureRandom

export const memory: Layer.Layer<Backend> = Layer.mergeAll(
  MemoryWebhookStore.layer,
  Wakeup.layer,
  SecureRandom.layerWebCrypto
).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/** A request that reached the network; `at` is in milliseconds since the start of the test. */
export interface Call extends TransportRequest {
  readonly at: number
  readonly delivery: string
  readonly text: string
}

export const ok: Outcome = { reason: "ok", httpStatus: 200 }
export const status500: Outcome = { reason: "status_500", httpStatus: 500 }

type Store = WebhookStore["Service"]

/** Fixtures that are isolated from other tests. */
export const makeWorld = Effect.gen(function*() {
  const store = yield* WebhookStore
  const wakeup = yield* Wakeup.Wakeup
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const began = yield* Clock.currentTimeMillis
  const name = yield* random.uuidV7()

  const calls = yield* Queue.unbounded<Call>()
  const settled = yield* Queue.unbounded<Settlement>()
  const answers = new Map<string, (call: Call) => Effect.Effect<Outcome>>()
  /** If `isHeld` is set, claims find nothing, as if the transaction of another worker held all deliveries. */
  const faults = { settle: 0, claim: 0, due: 0, release: 0, refused: "", isHeld: false }
  const count = { due: 0, claim: 0, freeze: 0, release: 0, settle: 0, claimedAtOnce: 0, claimed: 0, sent: 0 }
  const held = { claims: Latch.makeUnsafe(true) }

  const failing = (operation: "settle" | "claim" | "due" | "release") =>
    Effect.suspend(() => {
      count[operation]++
      if (faults[operation] === 0) return Effect.void
      faults[operation]--
      return new StorageError.StorageError({ operation, reason: "unavailable", cause: "test" })
    })
  /** Fails like a broken constraint if a line of the set has the rejected reason. */
  const refusing = (settlements: ReadonlyArray<Settlement>) =>
    settlements.some(({ send }) => send?.outcome.reason === faults.refused)
      ? Effect.fail(new StorageError.StorageError({ operation: "settle", reason: "failed", cause: "test" }))
      : Effect.void
  /** Finds nothing. A worker that claims without end stops, so that its test ends. */
  const heldClaim = Effect.suspend(() => count.claim > 1_000 ? Effect.never : Effect.succeed([]))
  const watched: Store = {
    ...store,
    due: (...args) => Effect.andThen(failing("due"), store.due(...args)),
    claim: (...args) =>
      Effect.andThen(failing("claim"), Effect.suspend(() => faults.isHeld ? heldClaim : store.claim(...args))).pipe(
        Effect.tap((claimed) => {
          count.claimedAtOnce = Math.max(count.claimedAtOnce, claimed.length)
          count.claimed += claimed.length
          return held.claims.await
        })
      ),
    release: (...args) => Effect.andThen(failing("release"), store.release(...args)),
    freeze: (bodies) =>
      Effect.suspend(() => {
        count.freeze++
        return store.freeze(bodies)
      }),
    settle: (settlements) =>
      Effect.andThen(failing("settle"), refusing(settlements)).pipe(
        Effect.andThen(store.settle(settlements)),
        Effect.tap(() => Queue.offerAll(settled, settlements))
      )
  }

  const send = (request: TransportRequest) =>
    Effect.gen(function*() {
      const at = (yield* Clock.currentTimeMillis) - began
      const call: Call = {
        ...request,
        at,
        delivery: request.headers["X-Service-Delivery"] ?? "",
        text: new TextDecoder().decode(request.body)
      }
      count.sent++
      yield* Queue.offer(calls, call)
      return yield* (answers.get(request.url) ?? (() => Effect.succeed(ok)))(call)
    })

  /** Sealed texts of tests contain their secrets; `broken` cannot be opened. */
  const box = SecretBox.of({
    prefix: "sealed:",
    seal: (_, secret) => Effect.succeed(`sealed:${Redacted.value(secret)}`),
    hasKeyOf: (sealed) => sealed !== "broken",
    open: (endpoint, sealed) =>
      sealed === "broken"
        ? Effect.die(new Error(`No key opens a secret of ${endpoint}`))
        : Effect.succeed(Redacted.make(sealed.slice("sealed:".length)))
  })

  const services = Layer.mergeAll(
    Layer.succeed(WebhookStore, WebhookStore.of(watched)),
    Layer.succeed(Transport, Transport.of({ send })),
    Layer.succeed(SecretBox, box)
  )

  let endpoints = 0
  const save = (record: EndpointRecord) =>
    atomically(
      Effect.andThen(store.loadEndpoint(record.endpoint.account, record.endpoint.id), store.saveEndpoint(record))
    )

  const publishOne = Effect.fnUntraced(function*({ endpoint }: EndpointRecord, data: Schema.Json) {
    const createdAt = yield* DateTime.now
    const event = yield* EventId.make
    const id = yield* DeliveryId.make
    yield* atomically(
      store.publish(
        [{ id: event, account: endpoint.account, type: "order.paid", data, createdAt }],
        [{ id, event, endpoint: endpoint.id }]
      )
    )
    return id
  }, Effect.provideService(SecureRandom.SecureRandom, random))

  return {
    calls,
    /** Takes the next request that reaches the network. */
    call: Queue.take(calls),
    /** Takes the next stored outcome. */
    settled: Queue.take(settled),
    faults,
    count,
    /** While closed, delays the results of claims that the store has made. */
    claims: held.claims,
    store,
    wake: wakeup.wake,
    /**
     * Waits until every claimed delivery has reached the network. Signatures are computed on
     * threads of the platform, which the test clock does not wait for.
     */
    allSent: Effect.gen(function*() {
      while (count.sent < count.claimed) yield* Effect.yieldNow
    }),
    /** Starts a worker. `stop` closes its scope. */
    start: Effect.fnUntraced(function*(options: DeliveryWorker.DeliveryWorkerOptions = {}) {
      const scope = yield* Scope.fork(yield* Effect.scope)
      const worker = yield* DeliveryWorker.make({ grace: 0, ...options }).pipe(
        Effect.provide(services),
        Scope.provide(scope)
      )
      return { ...worker, stop: Scope.close(scope, Exit.void) }
    }),
    /** Sets how the network responds to requests to the endpoint. */
    answer: (record: EndpointRecord, answer: (call: Call) => Effect.Effect<Outcome>) =>
      answers.set(record.endpoint.url, answer),
    endpoint: (options: { readonly account?: string; readonly secrets?: ReadonlyArray<SealedSecret> } = {}) =>
      Effect.gen(function*() {
        const createdAt = yield* DateTime.now
        const record: EndpointRecord = {
          endpoint: {
            id: yield* EndpointId.make,
            account: `${name}-${options.account ?? "account"}`,
            url: `https://${++endpoints}.${name}.test/`,
            types: null,
            status: "enabled",
            createdAt,
            secretCreatedAt: createdAt
          },
          secrets: options.secrets ?? [{ sealed: `sealed:whsec_${endpoints}`, createdAt, expiresAt: null }]
        }
        yield* atomically(store.insertEndpoint(record))
        return record
      }).pipe(Effect.provideService(SecureRandom.SecureRandom, random)),
    save,
    remove: ({ endpoint }: EndpointRecord) =>
      atomically(Effect.andThen(store.loadEndpoint(endpoint.account, endpoint.id), store.removeEndpoint(endpoint.id))),
    /** Publishes an event for the endpoint, wakes the workers, and returns the delivery's id. */
    publish: (endpoint: EndpointRecord, data: Schema.Json = { n: 0 }) =>
      Effect.tap(publishOne(endpoint, data), () => wakeup.wake),
    publishMany: (endpoint: EndpointRecord, howMany: number) =>
      Effect.tap(
        Effect.forEach(Array.from({ length: howMany }, (_, n) => n), (n) => publishOne(endpoint, { n })),
        () => wakeup.wake
      ),
    /** Publishes an event without a wake-up. */
    publishQuietly: (endpoint: EndpointRecord) => publishOne(endpoint, { n: 0 }),
    find: Effect.fnUntraced(function*({ endpoint }: EndpointRecord, id: DeliveryId) {
      const found: Delivery | undefined = yield* atomically(store.loadDelivery(endpoint.account, id))
      return found
    }),
    log: ({ endpoint }: EndpointRecord) => store.listSends(endpoint.id, 100)
  }
})

/** A queue of answers, one per request. */
export const makeGate = Effect.map(Queue.unbounded<Outcome>(), (outcomes) => ({
  answer: () => Queue.take(outcomes),
  give: (outcome: Outcome) => Queue.offer(outcomes, outcome)
}))

/** A clock whose wall time is `back()` milliseconds behind the test clock. */
export const makeClockBehind = (back: () => number): Effect.Effect<Clock.Clock> =>
  Effect.map(Clock.Clock, (clock) => {
    const millis = () => clock.currentTimeMillisUnsafe() - back()
    const nanos = () => clock.currentTimeNanosUnsafe() - BigInt(back()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
  })

/** Parses the `t` and the `v1` values of the signature header. */
export const signatureOf = ({ headers }: Call) => {
  const parts = (headers["X-Service-Signature"] ?? "").split(",").map((part) => part.split("="))
  return {
    t: Number(parts.find(([key]) => key === "t")?.[1]),
    v1: parts.filter(([key]) => key === "v1").map(([, value]) => value)
  }
}

/** Signs a request with a secret and returns the `v1`. */
export const signedWith = (secret: string, call: Call) =>
  Effect.promise(async () => (await Signature.makeSigner(secret)).sign(signatureOf(call).t, call.body))
