/**
 * Services of packages for programs without Effect: promises, `Date`, plain objects, and errors that are thrown.
 *
 * Packages make their own promise API with this module. Programs use that API.
 */
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SchemaOptions } from "./Backend.ts"
import * as External from "./external.ts"
import { openPool } from "./internal/external/openPool.ts"
import { brandOf, isInstance } from "./internal/promise/copies.ts"
import { type Plain, toPlain } from "./internal/promise/plain.ts"
import { runPromise } from "./internal/promise/run.ts"
import { type TelemetryOptions, withTelemetry } from "./internal/promise/telemetry.ts"
import type * as Migrations from "./Migrations.ts"
import { StorageError } from "./StorageError.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

export { checkInputs, type FieldType, type Inputs } from "./internal/promise/inputs.ts"
export { type Plain, toPlain } from "./internal/promise/plain.ts"
export type { TelemetryOptions } from "./internal/promise/telemetry.ts"

/**
 * Where a service stores its data: on the connections of the program's pool of `pg`, on those of a pool of its own, or in
 * the memory of the process, for tests. And where its spans and metrics go.
 */
export type Storage =
  & (
    | ({ readonly pool: External.PgPool } & SchemaOptions)
    | ({ readonly url: string } & SchemaOptions)
    | { readonly memory: true }
  )
  & TelemetryOptions

/** Options of every call. */
export interface CallOptions {
  /**
   * The transaction that the call belongs to: a client of `pg` on which the program has begun one, or what a function of
   * `@kinora/persistence/external` returned. Default: a transaction of its own.
   */
  readonly tx?: External.PgClient | External.Transaction | undefined
  /**
   * Ends the call when it aborts: the call rejects with the reason of the signal. In a transaction of the program, what
   * it wrote is undone first. Outside of one, it may still be applied, like any request that was sent.
   */
  readonly signal?: AbortSignal | undefined
}

const brand = brandOf("StorageFailedError")

/** The database failed. Rules that refuse a call throw errors of their package instead. */
export class StorageFailedError extends Error {
  override readonly name = "StorageFailedError"
  /**
   * `storage_conflict`: undone because of a concurrent transaction. `storage_unavailable`: no response in time, so the
   * call may have been applied. `storage_failed`: the same call would fail again.
   */
  readonly code: `storage_${StorageError["reason"]}`
  /** Whether the same call may succeed later. */
  readonly isRetryable: boolean

  /** Returns whether a value is such an error, also if it is of another promise API, which has a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isInstance(this, { copied: StorageFailedError, brand }, value)
  }

  get [brand](): boolean {
    return true
  }

  constructor(error: StorageError) {
    super(error.message, { cause: error.cause })
    this.code = `storage_${error.reason}`
    this.isRetryable = error.isRetryable
  }
}

/** The layers of a service on each kind of storage. */
export interface Layers<Services> {
  readonly memory: Layer.Layer<Services | UnitOfWork>
  readonly postgres: Layer.Layer<Services | UnitOfWork, Migrations.SchemaMismatch | StorageError, SqlClient.SqlClient>
}

/** Runs the calls of a promise API. */
export interface Runtime<Services> {
  /**
   * Runs an effect, in the transaction of the caller if there is one. Rejects with what `errorOf` returns for a failure,
   * with `StorageFailedError`, with the value of a defect, and with the reason of the signal after an abort.
   */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E | StorageError, Services | UnitOfWork>,
    options: CallOptions,
    errorOf: (failure: E) => Error
  ) => Promise<Plain<A>>
  /**
   * Runs an effect that opens something which lasts longer than the call, such as a worker. It closes with `close` of the
   * result, when the signal aborts, and before the service itself closes. Rejects like `run`.
   */
  readonly open: <A, E>(
    effect: Effect.Effect<A, E | StorageError, Services | UnitOfWork | Scope.Scope>,
    options: Pick<CallOptions, "signal">,
    errorOf: (failure: E) => Error
  ) => Promise<Opened<A>>
  /** Ends the background work and the connections that the service has opened itself. Idempotent. */
  readonly close: () => Promise<void>
}

/** Something that is open until `close`. */
export interface Opened<A> {
  readonly value: A
  /** Idempotent: every call waits for the same end. */
  readonly close: () => Promise<void>
}

/**
 * Builds the layer for a storage. Rejects with `StorageFailedError` if the database is unavailable, and with `SchemaMismatch`
 * if a newer build has removed something from its tables. Rejects with a `TypeError` if the name of the schema is invalid.
 */
export const make = async <Services>(layers: Layers<Services>, storage: Storage): Promise<Runtime<Services>> => {
  const opened = "url" in storage ? await openPool(storage.url) : undefined
  const pool = "pool" in storage ? storage.pool : opened
  const client = pool && External.layerPg(pool)
  const layer = client === undefined ? layers.memory : Layer.provide(layers.postgres, client)
  const runtime = ManagedRuntime.make(withTelemetry(layer, storage))
  const calls = new Set<Promise<unknown>>()
  const openings = new Set<() => Promise<void>>()
  let isClosed = false
  let closed: Promise<void> | undefined
  const close = () =>
    closed ??= (async () => {
      try {
        // Closed before the calls, since running handlers make calls.
        await Promise.allSettled(Array.from(openings, (end) => end()))
        isClosed = true
        // A pool that ends never settles the calls that wait for a connection.
        await Promise.allSettled(calls)
        await runtime.dispose()
      } finally {
        await opened?.end()
      }
    })()
  const context = await runtime.context().catch(async (error: unknown) => {
    await close()
    throw error instanceof StorageError ? new StorageFailedError(error) : error
  })
  return {
    run: async (effect, { signal, tx }, errorOf) => {
      signal?.throwIfAborted()
      if (tx !== undefined && client === undefined) {
        throw new TypeError("A service outside of the database cannot join a transaction; leave out tx")
      }
      if (isClosed) throw closedError()
      const joined = tx === undefined ? effect : External.join(transactionOf(tx))(effect)
      const call = runPromise(Effect.map(Effect.provideContext(joined, context), toPlain), signal, thrown(errorOf))
      calls.add(call)
      try {
        return await call
      } finally {
        calls.delete(call)
      }
    },
    open: async (effect, { signal }, errorOf) => {
      signal?.throwIfAborted()
      if (closed !== undefined) throw closedError()
      const scope = Scope.makeUnsafe()
      const close = closeOnce(scope, signal, () => openings.delete(close))
      openings.add(close)
      const scoped = Effect.provideContext(Effect.provideService(effect, Scope.Scope, scope), context)
      try {
        const value = await runPromise(scoped, signal, thrown(errorOf))
        signal?.throwIfAborted()
        if (closed !== undefined) throw closedError()
        return { value, close }
      } catch (error) {
        await close()
        throw error
      }
    },
    close
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transactionOf = (tx: External.PgClient | External.Transaction): External.Transaction =>
  "turn" in tx ? tx : External.fromPg(tx)

const thrown = <E>(errorOf: (failure: E) => Error) => (failure: E | StorageError): Error =>
  failure instanceof StorageError ? new StorageFailedError(failure) : errorOf(failure)

const closedError = () => new Error("The service is closed")

/** Returns the function that closes a scope, and calls it when the signal aborts. */
const closeOnce = (scope: Scope.Closeable, signal: AbortSignal | undefined, onClosed: () => void) => {
  let closed: Promise<void> | undefined
  const close = () => {
    signal?.removeEventListener("abort", closeOnAbort)
    return closed ??= Effect.runPromise(Scope.close(scope, Exit.void)).finally(onClosed)
  }
  // A failure reaches those who call `close`.
  const closeOnAbort = () => void close().catch(() => {})
  signal?.addEventListener("abort", closeOnAbort)
  return close
}
