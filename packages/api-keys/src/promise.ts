/**
 * API keys for programs without Effect.
 *
 *     const keys = await createApiKeys({ pool, prefix: "acme_" })
 *     const { key } = await keys.create({ owner: "ada", name: "laptop", scopes: ["read"] })
 *     const record = await keys.verify({ key })
 *
 * Every call has the rules of the service `ApiKeys`. A call throws an `ApiKeysError` with a `code` if it is refused, and a
 * `StorageFailedError` if the database fails.
 */
import * as Backend from "@kinora/persistence/Backend"
import { type CallOptions, checkInputs, type Layers, make, type Storage } from "@kinora/persistence/promise"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Duration, Effect, Layer, Option, Redacted } from "effect"
import type { Metadata } from "./ApiKey.ts"
import * as Service from "./ApiKeys.ts"
import type { ApiKeysError as Refusal } from "./ApiKeysError.ts"
import { ApiKeysError, errorOf } from "./internal/promise/errors.ts"
import { inputs } from "./internal/promise/inputs.ts"
import { type ApiKey, idOf, type NewKey, newKeyOf, recordOf, type Terms, termsOf } from "./internal/promise/records.ts"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export {
  ApiKeysError,
  KeyEndedError,
  KeyNotFoundError,
  MetadataInvalidError,
  NameInvalidError,
  OwnerInvalidError,
  TermsInvalidError,
  TooManyKeysError
} from "./internal/promise/errors.ts"
export type { ApiKey, NewKey, Terms } from "./internal/promise/records.ts"

/** Options of `createApiKeys`: the storage, and the options of the service. */
export type CreateApiKeysOptions = Storage & Service.ApiKeysOptions & {
  /** Whether to delete keys that ended long ago in the background. Default true. Any number of processes may. */
  readonly sweep?: boolean | undefined
  /** How long revoked and expired keys are kept and listed. Default 90 days. */
  readonly endedKept?: Duration.Input | undefined
}

/** Selects the keys of an owner. */
interface OwnerQuery extends CallOptions {
  readonly owner: string
}

/** Selects a key of an owner. */
interface KeyQuery extends OwnerQuery {
  /** `key_…` */
  readonly id: string
}

/** A key to create. */
interface KeyOptions extends OwnerQuery, Terms {
  /** At most 100 characters. */
  readonly name: string
  /** Data of the program about the key. Default: an empty object. */
  readonly metadata?: Metadata | undefined
  /** The author, who is recorded. Default: `null`. */
  readonly createdBy?: string | null | undefined
}

/** A key to roll. */
interface RollOptions extends KeyQuery {
  /** How long the former key stays active. */
  readonly overlap: Duration.Input
  /** The author of the new key. Default: `null`. */
  readonly createdBy?: string | null | undefined
}

/** A key to verify. */
interface VerifyOptions extends CallOptions, Service.Client {
  /** The key that a client sent. */
  readonly key: string
}

/** API keys. The calls are those of the service `ApiKeys`, whose documentation describes them. */
export interface ApiKeys extends AsyncDisposable {
  /**
   * Creates a key and returns it this once. Throws `TooManyKeysError`, `OwnerInvalidError`, `NameInvalidError`,
   * `TermsInvalidError` or `MetadataInvalidError`.
   */
  readonly create: (key: KeyOptions) => Promise<NewKey>
  /**
   * Returns the record of a key, or `undefined` if the key is malformed, unknown, revoked or expired, or restricted to
   * networks that do not contain `address`. Check scopes with `hasScope`.
   */
  readonly verify: (key: VerifyOptions) => Promise<ApiKey | undefined>
  /**
   * Replaces a key by one with the same name, terms and metadata. The former key expires after `overlap`. Throws
   * `KeyNotFoundError`, `KeyEndedError`, `TooManyKeysError`, or `TermsInvalidError` for an overlap without an end.
   */
  readonly roll: (key: RollOptions) => Promise<NewKey>
  /** Renames a key. Throws `KeyNotFoundError`, `KeyEndedError` or `NameInvalidError`. */
  readonly rename: (key: KeyQuery & { readonly name: string }) => Promise<ApiKey>
  /** Returns active keys, then revoked and expired ones, newest first. */
  readonly list: (query: OwnerQuery) => Promise<ReadonlyArray<ApiKey>>
  /** Returns a key, also a revoked or expired one. Throws `KeyNotFoundError`. */
  readonly get: (query: KeyQuery) => Promise<ApiKey>
  /** Revokes a key. Idempotent. Throws `KeyNotFoundError`. */
  readonly revoke: (query: KeyQuery) => Promise<ApiKey>
  /** Revokes all keys of an owner. Returns the number of those that were not revoked. */
  readonly revokeAll: (query: OwnerQuery) => Promise<number>
  /** Deletes all keys of an owner with their records. Returns their number. */
  readonly forget: (query: OwnerQuery) => Promise<number>
  /** Records the collected uses, and ends the background work and the connections that it has opened itself. */
  readonly close: () => Promise<void>
}

/** Returns whether a key allows requests of this kind. A key without scopes allows all. */
export const hasScope = ({ scopes }: Pick<Terms, "scopes">, scope: string): boolean =>
  scopes === undefined || scopes.includes(scope)

/**
 * Creates API keys. Brings their tables up to date first. Rejects if the database is unavailable, or a newer build has removed
 * something from the tables, and with a `TypeError` if the prefix is invalid.
 */
export const createApiKeys = async (options: CreateApiKeysOptions): Promise<ApiKeys> => {
  const { close, run } = await make(layersOf(options), options)
  const call = <A, B>(
    options: CallOptions,
    effect: (keys: Service.ApiKeys["Service"]) => Effect.Effect<A, ApiKeysError | Refusal | StorageError>,
    convert: (value: A) => B
  ) => run(Effect.map(Service.ApiKeys.use(effect), convert), options, thrown)
  const withId = <A>(
    { id, owner }: KeyQuery,
    effect: (id: Effect.Success<ReturnType<typeof idOf>>) => Effect.Effect<A, Refusal | StorageError>
  ) => Effect.flatMap(idOf(owner, id), effect)

  return checkInputs<ApiKeys>({
    create: (key) =>
      call(key, ({ create }) => {
        const { createdBy, metadata, name, owner } = key
        return Effect.flatMap(termsOf(key), (terms) => create({ owner, name, terms, metadata, createdBy }))
      }, newKeyOf),
    verify: (key) =>
      call(
        key,
        ({ verify }) => verify(Redacted.make(key.key), { address: key.address }),
        (found) => Option.getOrUndefined(Option.map(found, recordOf))
      ),
    roll: (query) =>
      call(query, ({ roll }) => {
        const { createdBy, overlap, owner } = query
        return withId(query, (id) => roll({ owner, id, overlap, createdBy }))
      }, newKeyOf),
    rename: (query) =>
      call(query, ({ rename }) => withId(query, (id) => rename(query.owner, id, query.name)), recordOf),
    list: (query) => call(query, ({ list }) => list(query.owner), (keys) => keys.map(recordOf)),
    get: (query) => call(query, ({ get }) => withId(query, (id) => get(query.owner, id)), recordOf),
    revoke: (query) => call(query, ({ revoke }) => withId(query, (id) => revoke(query.owner, id)), recordOf),
    revokeAll: (query) => call(query, ({ revokeAll }) => revokeAll(query.owner), Number),
    forget: (query) => call(query, ({ forget }) => forget(query.owner), Number),
    close,
    [Symbol.asyncDispose]: close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layersOf = ({ endedKept, sweep = true, ...options }: CreateApiKeysOptions): Layers<Service.ApiKeys> => {
  const withSweep = <E, R>(layer: Layer.Layer<Service.ApiKeys | UnitOfWork, E, R>) =>
    sweep ? Layer.provideMerge(Service.layerSweep({ endedKept }), layer) : layer
  return {
    memory: withSweep(Service.layerWith(options).pipe(Backend.memory(MemoryApiKeyStore.layer))),
    postgres: withSweep(Service.layerPostgres(options))
  }
}

const thrown = (failure: ApiKeysError | Refusal): Error => failure instanceof ApiKeysError ? failure : errorOf(failure)
