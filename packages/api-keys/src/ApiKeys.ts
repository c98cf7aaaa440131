/**
 * API keys for accounts of your own.
 *
 * A host caches a key for at most `revocationWithin`. Within this time a revocation takes effect on other hosts. On the
 * host that made the change it takes effect when the change commits.
 */
import * as Backend from "@kinora/persistence/Backend"
import type { StorageError } from "@kinora/persistence/StorageError"
import * as Sweep from "@kinora/persistence/Sweep"
import type * as UnitOfWork from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, type Duration, Effect, Layer, Option, type Redacted, type Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { ApiKey } from "./ApiKey.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import * as Keys from "./Keys.ts"
import { hasAddress, hasExpired } from "./KeyTerms.ts"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"
import * as SqlApiKeyStore from "./SqlApiKeyStore.ts"
import * as Verification from "./Verification.ts"

/** API keys. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  Keys.Keys & {
    /**
     * Returns the record of a key, or `None` if the key is malformed, unknown, revoked or expired, or restricted to networks
     * that do not contain the address. Check scopes with `KeyTerms.hasScope`.
     *
     * A malformed key costs no look-up, and a key that was verified within `revocationWithin` no statement. Concurrent
     * look-ups share a statement. The record may be as old as that. The use of a key is recorded in the background, about
     * once a minute; a use that cannot be recorded is dropped.
     */
    readonly verify: (key: Redacted.Redacted, client?: Client) => Effect.Effect<Option.Option<ApiKey>, StorageError>
  }
>()("@kinora/api-keys/ApiKeys") {}

/** The client that uses a key. */
export interface Client {
  /** Its IPv4 or IPv6 address. Without one, keys that are restricted to networks are rejected. */
  readonly address?: string | undefined
}

/** Options for `layerWith` and `layerPostgres`. */
export interface ApiKeysOptions extends Verification.VerificationLimits, Omit<Keys.KeysOptions, "evict" | "prefix"> {
  /** The text that all keys begin with: 1 to 32 letters, digits, `_` and `-`. Default `sk_`. */
  readonly prefix?: string | undefined
}

/** Options for `layerSweep`. */
export interface ApiKeysSweepOptions extends Sweep.LayerSweepOptions {
  /** How long revoked and expired keys are kept and listed; `Duration.infinity`: forever. Default 90 days. */
  readonly endedKept?: Duration.Input | undefined
}

/** Creates the service over the surrounding store. Records collected uses when the scope closes. */
export const make = Effect.fnUntraced(function*(
  { prefix = "sk_", ...options }: ApiKeysOptions = {}
): Effect.fn.Return<
  ApiKeys["Service"],
  never,
  ApiKeyStore | Scope.Scope | SecureRandom.SecureRandom | UnitOfWork.UnitOfWork
> {
  const { findActive, noteUses } = yield* ApiKeyStore
  const { evict, verify } = yield* Verification.make<ApiKey>({
    ...options,
    prefix,
    noteUses,
    find: (hashes) =>
      Effect.map(
        findActive(hashes),
        (found) => found.map(({ hash, key }) => ({ hash, key: key.id, lastUsedAt: key.lastUsedAt, value: key }))
      )
  })
  const keys = yield* Keys.make({
    ...options,
    prefix,
    evict: (changed) => evict(({ id, owner }) => "id" in changed ? id === changed.id : owner === changed.owner)
  })
  return ApiKeys.of({
    ...keys,
    verify: Effect.fnUntraced(function*(key: Redacted.Redacted, { address }: Client = {}) {
      const found = yield* verify(key)
      if (Option.isNone(found)) return found
      const { terms } = found.value
      if (Option.isSome(terms.expiresAt) && hasExpired(terms, yield* DateTime.now)) return Option.none()
      return hasAddress(terms, Option.fromUndefinedOr(address)) ? found : Option.none()
    })
  })
})

/** Provides the service over the surrounding store. */
export const layerWith = (
  options: ApiKeysOptions
): Layer.Layer<ApiKeys, never, ApiKeyStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(ApiKeys, make(options))

/** Provides the service over the surrounding store, with the default options. */
export const layer: ReturnType<typeof layerWith> = layerWith({})

/** Provides keys in the memory of the process, for tests. */
export const layerMemory: Backend.MemoryLayer<ApiKeys> = layer.pipe(Backend.memory(MemoryApiKeyStore.layer))

/** Provides keys in Postgres. Runs the pending migrations of the package while the layer is built. */
export const layerPostgres = (
  { schema, ...options }: ApiKeysOptions & Backend.SchemaOptions = {}
): Backend.PostgresLayer<ApiKeys> => layerWith(options).pipe(Backend.postgres(Backend.inSchema(SqlApiKeyStore, schema)))

/** Deletes keys that ended long ago in the background, by default 500 per statement and every hour. */
export const layerSweep = (
  { endedKept = "90 days", interval = "1 hour", limit = 500 }: ApiKeysSweepOptions = {}
): Layer.Layer<never, never, ApiKeys> =>
  Sweep.layerAged({
    name: "ended API keys",
    interval,
    limit,
    age: endedKept,
    run: (age, limit) => ApiKeys.use(({ deleteEnded }) => deleteEnded(age, limit))
  })
