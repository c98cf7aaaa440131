/**
 * Services of packages for programs without Effect: promises, `Date`, plain objects, and errors that are thrown.
 *
 * Packages make their own promise API with this module. Programs use that API.
 */
import { type Brand, Cause, DateTime, Effect, Exit, Layer, ManagedRuntime } from "effect"
import type { SqlClient } from "effect/sql"
import * as External from "./external.ts"
import { openPool } from "./internal/external/openPool.ts"
import type * as Migrations from "./Migrations.ts"
import { StorageError } from "./StorageError.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

/**
 * Where a service stores its data: on the connections of the program's pool of `pg`, on those of a pool of its own, or in
 * the memory of the process, for tests.
 */
export type Storage =
  | { readonly pool: External.PgPool }
  | { readonly url: string }
  | { readonly memory: true }

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

/** The database did not do what a call asked for. Rules that refuse a call throw errors of their package instead. */
export class StorageFailedError extends Error {
  override readonly name = "StorageFailedError"
  /**
   * `storage_conflict`: undone because of a concurrent transaction. `storage_unavailable`: no response in time, so the
   * call may have been applied. `storage_failed`: the same call would fail again.
   */
  readonly code: `storage_${StorageError["reason"]}`
  /** Whether the same call may succeed later. */
  readonly isRetryable: boolean

  constructor(error: StorageError) {
    super(error.message, { cause: error.cause })
    this.code = `storage_${error.reason}`
    this.isRetryable = error.isRetryable
  }
}

/** A value with `Date` in place of Effect's times, and without brands. */
export type Plain<A> = A extends DateTime.DateTime ? Date
  : A extends Brand.Brand<string> ? Brand.Brand.Unbranded<A>
  : A extends string | number | bigint | boolean | null | undefined ? A
  : A extends ReadonlyMap<infer Key, infer Value> ? ReadonlyMap<Plain<Key>, Plain<Value>>
  : A extends ReadonlyArray<infer Element> ? ReadonlyArray<Plain<Element>>
  : { readonly [Name in keyof A]: Plain<A[Name]> }

/** Converts a result of a service. */
export const toPlain = <A>(value: A): Plain<A> => plainOf(value) as Plain<A>

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
  /** Ends the background work and the connections that the service has opened itself. */
  readonly close: () => Promise<void>
}

/** Builds the layer for a storage. Rejects if the database is unavailable, or its tables are newer than this build. */
export const make = async <Services>(layers: Layers<Services>, storage: Storage): Promise<Runtime<Services>> => {
  const opened = "url" in storage ? await openPool(storage.url) : undefined
  const pool = "pool" in storage ? storage.pool : opened
  const client = pool && External.layerPg(pool)
  const runtime = ManagedRuntime.make(
    client === undefined ? layers.memory : Layer.provide(layers.postgres, client)
  )
  const context = await runtime.context()
  return {
    run: async (effect, { signal, tx }, errorOf) => {
      signal?.throwIfAborted()
      if (tx !== undefined && client === undefined) {
        throw new TypeError("A service in memory cannot join a transaction; leave out tx")
      }
      const joined = tx === undefined ? effect : External.join(transactionOf(tx))(effect)
      const exit = await Effect.runPromiseExit(Effect.provideContext(joined, context), signal && { signal })
      if (Exit.isSuccess(exit)) return toPlain(exit.value)
      signal?.throwIfAborted()
      const failure = exit.cause.reasons.find(Cause.isFailReason)
      if (failure === undefined) throw Cause.squash(exit.cause)
      throw failure.error instanceof StorageError ? new StorageFailedError(failure.error) : errorOf(failure.error)
    },
    close: async () => {
      await runtime.dispose()
      await opened?.end()
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transactionOf = (tx: External.PgClient | External.Transaction): External.Transaction =>
  "turn" in tx ? tx : External.fromPg(tx)

const plainOf = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return DateTime.toDateUtc(value)
  if (Array.isArray(value)) return value.map(plainOf)
  if (value instanceof Map) return new Map(Array.from(value, ([key, value]) => [plainOf(key), plainOf(value)] as const))
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, value]) => [name, plainOf(value)]))
}
