/**
 * Operators: named tokens with a role.
 *
 * `authenticate` reads the store each time, so a revocation, an expiry and a rotation take
 * effect on every host at once.
 */
import { Backend, type StorageError, UnitOfWork } from "@kinora/persistence"
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as AuditLog from "./AuditLog.ts"
import * as MemoryOperatorStore from "./MemoryOperatorStore.ts"
import { isName, nameCharsMax, type Operator, OperatorId, type Role } from "./Operator.ts"
import * as OperatorsError from "./OperatorsError.ts"
import { OperatorStore, type TokenOwner } from "./OperatorStore.ts"
import * as OperatorToken from "./OperatorToken.ts"
import * as SqlOperatorStore from "./SqlOperatorStore.ts"

/** A new token and its operator. The token cannot be read again. */
export interface NewToken {
  readonly operator: Operator
  readonly token: Redacted.Redacted
}

/** An operator to create. */
export interface NewOperator {
  readonly name: string
  readonly role: Role
  /** Time from which the token does not work. Default: never. */
  readonly expiresAt?: DateTime.Utc | undefined
}

/** The failures of the service: a rejected command, or the storage. */
export type Failure = OperatorsError.OperatorsError | StorageError.StorageError

/** Creates, rotates, revokes and authenticates the tokens of operators. */
export class Operators extends Context.Service<Operators, {
  /** Creates an operator and returns its token this once. At most `operatorsMax` are neither revoked nor expired. */
  readonly create: (operator: NewOperator) => Effect.Effect<NewToken, Failure>

  readonly get: (id: OperatorId) => Effect.Effect<Operator, Failure>

  /** Returns operators that are not revoked, then revoked ones, newest first, at most twice `operatorsMax`. */
  readonly list: Effect.Effect<ReadonlyArray<Operator>, StorageError.StorageError>

  /**
   * Creates a new token and returns it this once. The former token works until `overlap`,
   * at most 30 days, has passed; default 24 hours. A second rotation within the overlap ends the oldest token.
   */
  readonly rotate: (
    id: OperatorId,
    options?: { readonly overlap?: Duration.Input | undefined }
  ) => Effect.Effect<NewToken, Failure>

  /** Revokes the operator with all its tokens. Idempotent. */
  readonly revoke: (id: OperatorId) => Effect.Effect<Operator, Failure>

  /**
   * Returns the operator of a token. A malformed token costs no statement. The use is
   * recorded at most once a minute; a use that cannot be recorded is dropped.
   */
  readonly authenticate: (
    token: Redacted.Redacted
  ) => Effect.Effect<Operator, OperatorsError.TokenRejected | StorageError.StorageError>
}>()("@kinora/operators/Operators") {}

/** Options for `layerWith` and `layerPostgres`. */
export interface OperatorsOptions {
  /** Maximum number of operators that are neither revoked nor expired. Default 100. */
  readonly operatorsMax?: number | undefined
}

const make = Effect.fnUntraced(function*({ operatorsMax = 100 }: OperatorsOptions) {
  const store = yield* OperatorStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, random)

  const insert = Effect.fnUntraced(function*(operator: Operator, hash: string) {
    yield* store.lockAll()
    if ((yield* store.count(operator.createdAt)) >= operatorsMax) {
      return yield* refuse(new OperatorsError.TooManyOperators({ operatorsMax }))
    }
    yield* store.insert(operator, hash)
  }, atomically)

  const get = Effect.fn("Operators.get")((id: OperatorId) =>
    Effect.flatMap(store.find(id), (found) => orNotFound(id, found))
  )

  return Operators.of({
    create: Effect.fn("Operators.create")(function*({ expiresAt, name, role }: NewOperator) {
      const now = yield* DateTime.now
      if (!isName(name)) return yield* refuse(new OperatorsError.NameInvalid({ charsMax: nameCharsMax }))
      if (expiresAt !== undefined && DateTime.isLessThanOrEqualTo(expiresAt, now)) {
        return yield* refuse(new OperatorsError.ExpiryInvalid())
      }
      const token = yield* OperatorToken.make
      const operator: Operator = {
        id: yield* OperatorId.make,
        name,
        role,
        prefix: OperatorToken.prefix(token),
        createdAt: now,
        expiresAt: Option.fromUndefinedOr(expiresAt),
        revokedAt: Option.none(),
        lastUsedAt: Option.none(),
        formerTokenUntil: Option.none()
      }
      yield* insert(operator, OperatorToken.hash(token))
      return { operator, token }
    }, withRandom),

    get,

    list: store.list(2 * operatorsMax).pipe(Effect.withSpan("Operators.list")),

    rotate: makeRotate(store, atomically, withRandom),

    revoke: Effect.fn("Operators.revoke")(function*(id: OperatorId) {
      const operator = yield* orNotFound(id, yield* store.lock(id))
      if (Option.isSome(operator.revokedAt)) return operator
      const now = yield* DateTime.now
      yield* store.revoke(id, now)
      return { ...operator, revokedAt: Option.some(now) }
    }, atomically),

    authenticate: makeAuthenticate(store)
  })
})

/** Provides the service over the surrounding store. */
export const layerWith = (
  options: OperatorsOptions
): Layer.Layer<Operators, never, OperatorStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(Operators, make(options))

/** Provides operators and the audit log in the memory of the process, for tests. */
export const layerMemory: Backend.MemoryLayer<Operators | AuditLog.AuditLog> = Layer.merge(
  layerWith({}),
  AuditLog.layer
).pipe(Backend.memory(MemoryOperatorStore.layer))

/** Provides operators and the audit log in Postgres. Runs the pending migrations of the package while the layer is built. */
export const layerPostgres = (
  options: OperatorsOptions = {}
): Backend.PostgresLayer<Operators | AuditLog.AuditLog> =>
  Layer.merge(layerWith(options), AuditLog.layer).pipe(Backend.postgres(SqlOperatorStore))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const overlapMax = Duration.days(30)
const minute = Duration.minutes(1)

const refuse = (reason: OperatorsError.OperatorsErrorReason) => new OperatorsError.OperatorsError({ reason })

const orNotFound = (operator: OperatorId, found: Option.Option<Operator>) =>
  Option.isSome(found)
    ? Effect.succeed(found.value)
    : Effect.fail(refuse(new OperatorsError.OperatorNotFound({ operator })))

const hasPassed = (time: Option.Option<DateTime.Utc>, now: DateTime.Utc) =>
  Option.exists(time, (time) => DateTime.isLessThanOrEqualTo(time, now))

/** Creates `Operators.rotate`. */
const makeRotate = (
  store: OperatorStore["Service"],
  atomically: UnitOfWork.UnitOfWork["Service"]["atomically"],
  withRandom: <A, E>(effect: Effect.Effect<A, E, SecureRandom.SecureRandom>) => Effect.Effect<A, E>
): Operators["Service"]["rotate"] =>
  Effect.fn("Operators.rotate")(
    function*(id: OperatorId, { overlap = "24 hours" }: { readonly overlap?: Duration.Input | undefined } = {}) {
      const length = Duration.fromInputUnsafe(overlap)
      if (Duration.isNegative(length) || Duration.isGreaterThan(length, overlapMax)) {
        return yield* refuse(new OperatorsError.OverlapInvalid({ secondsMax: Duration.toSeconds(overlapMax) }))
      }
      const operator = yield* orNotFound(id, yield* store.lock(id))
      const now = yield* DateTime.now
      if (Option.isSome(operator.revokedAt) || hasPassed(operator.expiresAt, now)) {
        return yield* refuse(new OperatorsError.OperatorEnded({ operator: id }))
      }
      const token = yield* withRandom(OperatorToken.make)
      const prefix = OperatorToken.prefix(token)
      const formerUntil = DateTime.addDuration(now, length)
      yield* store.replaceToken(id, { hash: OperatorToken.hash(token), prefix, formerUntil })
      return { operator: { ...operator, prefix, formerTokenUntil: Option.some(formerUntil) }, token }
    },
    atomically
  )

/** Creates `Operators.authenticate`. */
const makeAuthenticate = (store: OperatorStore["Service"]): Operators["Service"]["authenticate"] =>
  Effect.fn("Operators.authenticate")(function*(token: Redacted.Redacted) {
    if (!OperatorToken.isWellFormed(Redacted.value(token))) return yield* rejected("unknown")
    const owner = yield* store.findOwner(OperatorToken.hash(token))
    if (Option.isNone(owner)) return yield* rejected("unknown")
    const now = yield* DateTime.now
    const reason = refusalOf(owner.value, now)
    if (reason !== undefined) return yield* rejected(reason)
    const { operator } = owner.value
    const isNoted = Option.exists(
      operator.lastUsedAt,
      (last) => DateTime.isGreaterThan(DateTime.addDuration(last, minute), now)
    )
    if (!isNoted) {
      yield* Effect.catchCause(
        store.noteUse(operator.id, now),
        (cause) => Effect.logWarning("Recording the use of an operator's token failed", cause)
      )
    }
    return operator
  })

const rejected = (reason: OperatorsError.TokenRejected["reason"]) => new OperatorsError.TokenRejected({ reason })

const refusalOf = ({ isFormer, operator }: TokenOwner, now: DateTime.Utc) => {
  if (Option.isSome(operator.revokedAt)) return "revoked"
  if (hasPassed(operator.expiresAt, now)) return "expired"
  return isFormer && hasPassed(operator.formerTokenUntil, now) ? "expired" : undefined
}
