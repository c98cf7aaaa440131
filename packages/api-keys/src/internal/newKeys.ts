/** Creating and rolling keys. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ApiKey from "../ApiKey.ts"
import * as Errors from "../ApiKeysError.ts"
import { ApiKeyStore } from "../ApiKeyStore.ts"
import type { Changed, KeyOptions, RollOptions } from "../KeyCommand.ts"
import * as KeyTerms from "../KeyTerms.ts"
import { makeFindActive, refuse, validAuthor, validName, validOwner } from "./checks.ts"
import * as Token from "./token.ts"

/** Options for `makeNewKeys`. */
export interface NewKeysOptions {
  readonly prefix: string
  /** Maximum number of active keys of an owner. */
  readonly keysMax: number
  readonly metadataCharsMax: number
  readonly evict: (changed: Changed) => Effect.Effect<void>
}

/** Creates the methods that return a new key. */
export const makeNewKeys = Effect.fnUntraced(function*(
  { evict, keysMax, metadataCharsMax, prefix }: NewKeysOptions
) {
  const store = yield* ApiKeyStore
  const { atomically } = yield* UnitOfWork
  const insert = yield* makeInsert(prefix)
  const findActive = makeFindActive(store)
  const countActive = (owner: string) => Effect.flatMap(DateTime.now, (at) => store.countKeys(owner, at))

  return {
    create: Effect.fn("ApiKeys.create")(
      function*({ createdBy = null, metadata = {}, name, owner, terms = {} }: KeyOptions) {
        yield* validOwner(owner)
        yield* validAuthor(createdBy)
        yield* validName(name)
        const allTerms = { ...KeyTerms.unrestricted, ...terms }
        const problem = KeyTerms.problemOf(allTerms, yield* DateTime.now)
        if (problem !== undefined) return yield* refuse(new Errors.TermsInvalid({ problem }))
        const metadataProblem = ApiKey.metadataProblemOf(metadata, metadataCharsMax)
        if (metadataProblem !== undefined) {
          return yield* refuse(new Errors.MetadataInvalid({ problem: metadataProblem }))
        }
        const [, active] = yield* Pipelining.both(store.lockOwner(owner), countActive(owner))
        return yield* insert(
          { owner, name, terms: allTerms, metadata: copyOf(metadata), createdBy },
          { active, activeMax: keysMax }
        )
      },
      atomically
    ),

    roll: Effect.fn("ApiKeys.roll")(function*({ createdBy = null, id, overlap, owner }: RollOptions) {
      yield* validOwner(owner)
      yield* validAuthor(createdBy)
      const [, [{ line, metadata, name, terms }, active]] = yield* Pipelining.both(
        store.lockOwner(owner),
        Pipelining.both(findActive(owner, id), countActive(owner))
      )
      const until = DateTime.addDuration(yield* DateTime.now, overlap)
      if (!DateTime.isLessThanOrEqualTo(until, KeyTerms.expiresAtMax)) {
        return yield* refuse(new Errors.TermsInvalid({ problem: "The overlap must end before the year 10000." }))
      }
      // An owner with `keysMax` keys can roll each of them.
      const rolled = yield* insert(
        { owner, name, terms, metadata, line, createdBy },
        { active, activeMax: 2 * keysMax }
      )
      yield* Pipelining.atCommit(store.saveExpiry(
        id,
        Option.match(terms.expiresAt, { onNone: () => until, onSome: (end) => DateTime.min(end, until) })
      ))
      yield* evict({ id })
      return rolled
    }, atomically)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns metadata as a database returns it. The objects of the caller can be proxies, which cannot be cloned. */
const copyOf = (metadata: ApiKey.Metadata): ApiKey.Metadata => JSON.parse(JSON.stringify(metadata))

/**
 * Makes a function that makes a key and inserts its record, unless the `active` keys of the owner, which is locked, are as many
 * as it can have. Without a `line`, the key begins one.
 */
const makeInsert = Effect.fnUntraced(function*(prefix: string) {
  const store = yield* ApiKeyStore
  const random = yield* SecureRandom.SecureRandom
  const token = Token.define(prefix)

  return Effect.fnUntraced(
    function*(
      named:
        & Pick<ApiKey.ApiKey, "createdBy" | "metadata" | "name" | "owner" | "terms">
        & Partial<Pick<ApiKey.ApiKey, "line">>,
      { active, activeMax }: { readonly active: number; readonly activeMax: number }
    ) {
      if (active >= activeMax) {
        return yield* refuse(new Errors.TooManyKeys({ owner: named.owner, keysMax: activeMax }))
      }
      const key = yield* token.make
      const id = yield* ApiKey.KeyId.make
      const record: ApiKey.ApiKey = {
        line: id,
        ...named,
        id,
        prefix: token.prefix(key),
        createdAt: yield* DateTime.now,
        lastUsedAt: Option.none(),
        revokedAt: Option.none()
      }
      yield* Pipelining.atCommit(store.insertKey(record, token.hash(key)))
      return { record, key }
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )
})
