/**
 * Idempotency for programs without Effect.
 *
 *     const idempotency = await createIdempotency({ pool })
 *     const request = { scope: "ada/orders", key: header, body, reference: id, tx }
 *     const outcome = await idempotency.once(request, () => tx.query("INSERT INTO orders VALUES ($1)", [id]))
 *
 * Every call has the rules of the service `Idempotency`. A call throws an `IdempotencyError` with a `code` if it is
 * refused, and a `StorageFailedError` if the database fails.
 */
import * as Backend from "@kinora/persistence/Backend"
import { type CallOptions, checkInputs, type Layers, make, type Storage } from "@kinora/persistence/promise"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer, type Schema } from "effect"
import { Digest } from "effect/crypto"
import type * as Claims from "./Claim.ts"
import * as Fingerprint from "./Fingerprint.ts"
import * as Service from "./Idempotency.ts"
import { type IdempotencyError as Refusal, KeyReused } from "./IdempotencyError.ts"
import * as IdempotencyKey from "./IdempotencyKey.ts"
import { errorOf, InvalidKeyError, KeyReusedError } from "./internal/promise/errors.ts"
import { inputs } from "./internal/promise/inputs.ts"
import { makeResponses, type Responses } from "./internal/promise/responses.ts"
import * as MemoryIdempotencyStore from "./MemoryIdempotencyStore.ts"
import * as ResponsesService from "./Responses.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export {
  IdempotencyError,
  InProgressError,
  InvalidKeyError,
  KeyReusedError,
  LeaseLostError
} from "./internal/promise/errors.ts"
export type {
  Begun,
  ProgramResponse,
  ResponseRequest,
  Responses,
  RunningRequest
} from "./internal/promise/responses.ts"
export type { StoredResponse } from "./StoredResponse.ts"

/** Options of `createIdempotency`: the storage, and the options of the services. */
export type CreateIdempotencyOptions = Storage & ResponsesService.LayerOptions & {
  /** Whether to delete expired claims in the background, once a minute. Default true. Any number of processes may. */
  readonly sweep?: boolean | undefined
}

/** A request that must not take effect twice. */
export interface Request {
  /** Namespace of the keys, such as the account and the family of endpoints that share them. At most 128 characters. */
  readonly scope: string
  /**
   * The `Idempotency-Key` that the client sent. Without one, a request matches those without a key and with the same body
   * at the same `endpoint`.
   */
  readonly key?: string | undefined
  /** At most 128 characters. Default: the empty text. */
  readonly endpoint?: string | undefined
  /** The parsed body. Two bodies are the same regardless of the order of their keys. */
  readonly body: Schema.Json
}

/** A request, and the id of what it creates. A replay returns this id. */
export interface Claim extends Request, Pick<Claims.Claim, "reference" | "window"> {}

/** Idempotent requests. The calls are those of the service `Idempotency`, whose documentation describes them. */
export interface Idempotency extends AsyncDisposable, Responses {
  /**
   * Claims a request, then calls `work`, or returns the reference of the earlier request. Pass the transaction in which
   * `work` writes as `tx`: both are committed, or neither. Without it, the claim is committed before `work`, and a crash in
   * between leaves it until its window ends. If `work` rejects, the key is free again, and the call rejects with the same.
   * Throws `KeyReusedError`, `InProgressError` or `InvalidKeyError`.
   */
  readonly once: <A>(claim: CallOptions & Claim, work: () => PromiseLike<A> | A) => Promise<Service.Once<A>>
  /**
   * Claims a request. The caller does the work if the outcome is `Claimed`, in the transaction of `tx`, or calls `release`.
   * Throws `InProgressError` or `InvalidKeyError`.
   */
  readonly claim: (claim: CallOptions & Claim) => Promise<Exclude<Claims.Outcome, { readonly _tag: "Follower" }>>
  /** Claims a set in one transaction. Returns one outcome per claim, in order. */
  readonly claimAll: (
    claims: ReadonlyArray<Claim>,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Claims.Outcome>>
  /** Frees the key of a claim, if it is claimed for this reference. */
  readonly release: (claim: CallOptions & Claim) => Promise<void>
  /** Restarts the window of a claim without a key. */
  readonly extend: (claim: CallOptions & Claim) => Promise<void>
  /** Looks a request up without claiming it. */
  readonly find: (request: CallOptions & Request) => Promise<Claims.Found>
  /**
   * Deletes all claims and stored responses of a scope, and returns their number. Repeat a call that was ended early. `limit`
   * is the maximum number of claims in one unit of work. Default 1,000.
   */
  readonly forget: (command: CallOptions & Service.ForgetCommand) => Promise<number>
  /** Ends the background work, and the connections that it has opened itself. */
  readonly close: () => Promise<void>
}

/**
 * Creates idempotency. Brings its table up to date first. Rejects if the database is unavailable, or a newer build has removed
 * something from its table.
 */
export const createIdempotency = async (options: CreateIdempotencyOptions): Promise<Idempotency> => {
  const runtime = await make(layersOf(options), options)
  const { close, run } = runtime

  const claimAll = (claims: ReadonlyArray<Claim>, options: CallOptions = {}) =>
    run(
      Effect.flatMap(Effect.forEach(claims, claimOf), (claims) =>
        Service.Idempotency.use(({ claimAll }) => claimAll(claims))),
      options,
      thrown
    )
  const claim = async (claim: CallOptions & Claim) => {
    const [outcome] = await claimAll([claim], claim)
    if (outcome === undefined || outcome._tag === "Follower") throw new Error("A single claim follows no other")
    return outcome
  }
  const release = (claim: CallOptions & Claim) =>
    run(
      Effect.flatMap(claimOf(claim), (claim) => Service.Idempotency.use(({ release }) => release([claim]))),
      claim,
      thrown
    )

  return checkInputs<Idempotency>({
    once: async (request, work) => {
      const { signal, tx } = request
      signal?.throwIfAborted()
      // An aborted claim could be committed already, and would then replay a reference that was never created.
      const outcome = await claim(tx === undefined ? { ...request, signal: undefined } : request)
      if (outcome._tag === "Claimed" && tx === undefined && signal?.aborted) {
        await release({ ...request, signal: undefined }).catch(() => {})
        throw signal.reason
      }
      if (outcome._tag === "Replay") return outcome
      if (outcome._tag === "Reused") throw new KeyReusedError(new KeyReused())
      try {
        return { _tag: "Done", value: await work() }
      } catch (error) {
        // In a transaction that has failed, this fails too, and the rollback frees the key.
        await release({ ...request, signal: undefined }).catch(() => {})
        throw error
      }
    },
    claim,
    claimAll,
    release,
    extend: (claim) =>
      run(
        Effect.flatMap(claimOf(claim), (claim) => Service.Idempotency.use(({ extend }) => extend(claim))),
        claim,
        thrown
      ),
    find: (request) =>
      run(
        Effect.flatMap(requestOf(request), (request) => Service.Idempotency.use(({ find }) => find(request))),
        request,
        thrown
      ),
    forget: (command) =>
      run(
        Service.Idempotency.use(({ forget }) => forget({ scope: command.scope, limit: command.limit })),
        command,
        unrefused
      ),
    ...makeResponses(runtime),
    close,
    [Symbol.asyncDispose]: close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Services = Service.Idempotency | ResponsesService.Responses | Digest.Digest

const layersOf = ({ sweep = true, ...options }: CreateIdempotencyOptions): Layers<Services> => {
  const complete = <E, R>(layer: Layer.Layer<Service.Idempotency | ResponsesService.Responses | UnitOfWork, E, R>) =>
    Layer.merge(sweep ? Layer.provideMerge(Service.layerSweep(), layer) : layer, Digest.layerWebCrypto)
  const services = Layer.merge(Service.layerWith(options), ResponsesService.layerWith(options))
  return {
    memory: complete(services.pipe(Backend.memory(MemoryIdempotencyStore.layer))),
    postgres: complete(ResponsesService.layerPostgres(options))
  }
}

const requestOf = Effect.fnUntraced(function*({ body, endpoint = "", key, scope }: Request) {
  const parsed = key === undefined ? IdempotencyKey.IdempotencyKey.Implicit({ endpoint }) : IdempotencyKey.parse(key)
  if (parsed === undefined) return yield* Effect.fail(new InvalidKeyError({ key: key ?? "" }))
  const request: Claims.Request = { scope, key: parsed, fingerprint: yield* Effect.orDie(Fingerprint.make(body)) }
  return request
})

const claimOf = (claim: Claim) =>
  Effect.map(requestOf(claim), (request): Claims.Claim => ({
    ...request,
    reference: claim.reference,
    window: claim.window
  }))

/** No rule refuses to forget a scope. */
const unrefused = (refusal: never): Error => refusal

const thrown = (failure: Refusal | InvalidKeyError): Error =>
  failure instanceof InvalidKeyError ? failure : errorOf(failure)
