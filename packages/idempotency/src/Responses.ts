/**
 * Stores the response to a request with an idempotency key, and replays it to repetitions.
 *
 * Unlike `Idempotency`, a request here can take longer than a transaction. Its claim is a lease that this process renews
 * until the response is stored. If the process dies, the lease expires, and the next repetition runs again. A request whose
 * work must not happen twice stores the response in the transaction of the work: both are committed, or neither, and
 * a process that has lost its lease cannot commit.
 *
 *     free ──begin──▶ running ──complete──▶ stored ──(window ends)──▶ free
 *       ▲                │
 *       └────release─────┤
 *       └─(lease expires)┘
 */
import * as Backend from "@kinora/persistence/Backend"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, Data, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Fingerprint } from "./Fingerprint.ts"
import * as Idempotency from "./Idempotency.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import * as Claims from "./internal/claims.ts"
import { makeRunningRequests } from "./internal/runningRequests.ts"
import * as MemoryIdempotencyStore from "./MemoryIdempotencyStore.ts"
import * as SqlIdempotencyStore from "./SqlIdempotencyStore.ts"
import type { StoredResponse } from "./StoredResponse.ts"

/** A request whose response is stored. */
export interface ResponseRequest {
  /** Namespace of the keys, such as the account. At most 128 characters. */
  readonly scope: string
  /** The key that the client sent: 1 to 255 characters of printable ASCII. */
  readonly key: string
  /** Fingerprint of what the request asks for. */
  readonly fingerprint: Fingerprint
}

/** A request that runs. Only the process that has begun it has its token. */
export interface RunningRequest extends ResponseRequest {
  readonly token: string
}

/**
 * Result of `begin`.
 *
 * - `First`: run the request, then `complete` or `release` it.
 * - `InProgress`: the request is running already.
 * - `Replay`: the request has ended with this response.
 * - `Reused`: the key belongs to another request.
 */
export type Begun = Data.TaggedEnum<{
  First: { readonly running: RunningRequest }
  InProgress: {}
  Replay: { readonly response: StoredResponse }
  Reused: {}
}>

/** Constructors and matchers of `Begun`. */
export const Begun = Data.taggedEnum<Begun>()

/** The lease of a request expired, and another request has its key now. Its response is not stored. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>("@kinora/idempotency/LeaseLost")("LeaseLost", {}) {
  override get message(): string {
    return "The lease of the request expired, and a repetition of it has begun"
  }
}

/** Options of responses. */
export interface ResponsesOptions {
  /** The time after which a request of a dead process may run again. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** The time after which a request that has not ended loses its lease, also in a living process. Default 15 minutes. */
  readonly runMax?: Duration.Input | undefined
}

/** Options of `begin`. */
export interface BeginOptions {
  /** The maximum time to wait for a request that is running. Default 0: `InProgress` is returned at once. */
  readonly wait?: Duration.Input | undefined
}

/** Options of `complete`. */
export interface CompleteOptions {
  /** How long the response is kept. Default 24 hours. */
  readonly window?: Duration.Input | undefined
}

/** Stores and replays responses. */
export class Responses extends Context.Service<Responses, {
  /** Begins a request, unless it is running or has ended. Call it outside of transactions: others have to see the claim. */
  readonly begin: (request: ResponseRequest, options?: BeginOptions) => Effect.Effect<Begun, StorageError>

  /**
   * Stores the response of a request, in the transaction of the caller if there is one. A second call changes nothing.
   * Fails with `LeaseLost` if a repetition has begun. Roll back the transaction in this case.
   */
  readonly complete: (
    running: RunningRequest,
    response: StoredResponse,
    options?: CompleteOptions
  ) => Effect.Effect<void, LeaseLost | StorageError>

  /** Frees the key of a request without a stored response, so that a repetition runs. */
  readonly release: (running: RunningRequest) => Effect.Effect<void, StorageError>
}>()("@kinora/idempotency/Responses") {}

const make = Effect.fnUntraced(function*(options: ResponsesOptions) {
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const store = yield* IdempotencyStore
  const { atomically } = yield* UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const requests = yield* makeRunningRequests(lease, Duration.fromInputUnsafe(options.runMax ?? "15 minutes"))

  const findAll = Effect.fnUntraced(function*(slots: ReadonlyArray<Claims.Slot>) {
    const bySlot = new Map(slots.map((slot) => [Claims.slotText(slot), slot]))
    const held = yield* store.find(Array.from(bySlot).toSorted(([a], [b]) => a < b ? -1 : 1).map(([, slot]) => slot))
    const heldBySlot = new Map(held.map((held) => [Claims.slotText(held), held]))
    return slots.map((slot) => heldBySlot.get(Claims.slotText(slot)))
  })
  const find = yield* Folding.make({ name: "Responses.find", membersMax: 256, setsMax: 4, run: findAll })

  /** Claims the slot. Returns the claim that holds it instead, if there is one. */
  const claim = (arriving: Claims.Arriving) => Effect.map(atomically(store.claim([arriving])), ([held]) => held)

  const attempt = Effect.fnUntraced(function*(request: ResponseRequest, claimed: Set<RunningRequest>) {
    const slot = Claims.responseSlotOf(request)
    const found = yield* find(slot)
    if (found !== undefined) return begunOf(request, found)
    const running = { ...request, token: yield* random.uuidV7() }
    const arriving = { ...slot, fingerprint: request.fingerprint, reference: running.token, window: lease }
    claimed.add(running)
    const held = yield* claim(arriving)
    if (held !== undefined) return begunOf(request, held)
    yield* requests.add(arriving)
    return Begun.First({ running })
  }, Effect.catchTag("IdempotencyError", () => Effect.succeed(Begun.InProgress())))

  const release = Effect.fn("Responses.release")((running: RunningRequest) => {
    requests.drop(running.token)
    return store.release([{ ...Claims.responseSlotOf(running), reference: running.token }])
  })

  const begin = Effect.fn("Responses.begin")((request: ResponseRequest, { wait = 0 }: BeginOptions = {}) => {
    const claimed = new Set<RunningRequest>()
    // The caller of an interrupted call does not know that it has claimed the key. The call does not wait for a database that
    // does not respond.
    const releaseAll = Effect.forkDetach(Effect.ignore(Effect.forEach(claimed, (running) => release(running))))
    return Effect.onInterrupt(waitWhileRunning(attempt(request, claimed), wait), () => releaseAll)
  })

  const complete = Effect.fn("Responses.complete")(
    function*(running: RunningRequest, response: StoredResponse, { window = "24 hours" }: CompleteOptions = {}) {
      const slot = Claims.responseSlotOf(running)
      requests.drop(running.token)
      const isCompleted = yield* store.complete({
        ...slot,
        reference: running.token,
        response,
        window: Duration.fromInputUnsafe(window)
      })
      if (isCompleted) return
      const [held] = yield* store.find([slot])
      if (held?.reference !== running.token) return yield* new LeaseLost()
    }
  )

  return Responses.of({ begin, complete, release })
})

/** Provides responses over a store, with options. */
export const layerWith = (
  options: ResponsesOptions
): Layer.Layer<Responses, never, IdempotencyStore | SecureRandom.SecureRandom | UnitOfWork> =>
  Layer.effect(Responses, make(options))

/** Options of `layerPostgres`. */
export interface LayerOptions extends Idempotency.IdempotencyOptions, ResponsesOptions, Backend.SchemaOptions {}

/** Provides `Responses` and `Idempotency` in the memory of this process, for tests and single processes. */
export const layerMemory: Backend.MemoryLayer<Idempotency.Idempotency | Responses> = Layer.merge(
  Idempotency.layer,
  layerWith({})
).pipe(Backend.memory(MemoryIdempotencyStore.layer))

/**
 * Provides `Responses` and `Idempotency` in Postgres or PGlite. Brings the table up to date when the layer is built.
 * `Idempotency.layerSweep` deletes expired responses.
 */
export const layerPostgres = (
  { schema, ...options }: LayerOptions = {}
): Backend.PostgresLayer<Idempotency.Idempotency | Responses> =>
  Layer.merge(Idempotency.layerWith(options), layerWith(options)).pipe(
    Backend.postgres(Backend.inSchema(SqlIdempotencyStore, schema))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Repeats an attempt to begin a request while it is running. */
const waitWhileRunning = Effect.fnUntraced(function*<E>(attempt: Effect.Effect<Begun, E>, wait: Duration.Input) {
  const { currentTimeMillis } = yield* Clock.Clock
  const ends = (yield* currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(wait))
  for (let delay = 20;; delay = Math.min(delay * 1.5, 250)) {
    const begun = yield* attempt
    if (begun._tag !== "InProgress" || (yield* currentTimeMillis) >= ends) return begun
    yield* Effect.sleep(Duration.millis(delay))
  }
})

const begunOf = ({ fingerprint }: ResponseRequest, held: Claims.Held): Begun => {
  if (held.fingerprint !== fingerprint) return Begun.Reused()
  return held.response === undefined ? Begun.InProgress() : Begun.Replay({ response: held.response })
}
