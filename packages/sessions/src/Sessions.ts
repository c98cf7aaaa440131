/**
 * Sessions of people, and the one-time codes that start them.
 *
 * `authenticate` reads the store each time, so the end of a session takes effect on every host at once.
 */
import { Backend, Pipelining, type StorageError, Sweep, UnitOfWork } from "@kinora/persistence"
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeEnds } from "./internal/ends.ts"
import * as Members from "./Members.ts"
import * as MemorySessionStore from "./MemorySessionStore.ts"
import * as Session from "./Session.ts"
import { CodeRejected, SessionNotFound, SessionRejected, SessionsError, TooManyCodes } from "./SessionsError.ts"
import { SessionStore } from "./SessionStore.ts"
import * as SessionToken from "./SessionToken.ts"
import * as SqlSessionStore from "./SqlSessionStore.ts"

/** A new session and its token. The token cannot be read again. */
export interface NewSession {
  readonly session: Session.Session
  readonly token: Redacted.Redacted
}

/** A new sign-in code. The code itself cannot be read again. */
export interface NewCode extends Session.SignInCode {
  readonly code: Redacted.Redacted
}

/** A sign-in. */
export interface SignIn extends Session.Client {
  /** The token of the session that the new one replaces. Ignored if it is not valid. */
  readonly replaces?: Redacted.Redacted | undefined
  /** Time at which the session ends at the latest. Default: none besides the maximum age. */
  readonly notAfter?: DateTime.Utc | undefined
}

/** The failures of the service: a rejected command, or the storage. */
export type Failure = SessionsError | StorageError.StorageError

/** Starts, authenticates, lists and ends sessions. */
export class Sessions extends Context.Service<Sessions, {
  /** Creates a sign-in code and returns it this once. At most `codesMax` codes of a subject are valid at a time. */
  readonly createCode: (grant: Session.Grant) => Effect.Effect<NewCode, Failure>

  /** Starts the session of a code, which is deleted in the same unit of work, so that it starts one session. */
  readonly redeem: (
    code: Redacted.Redacted,
    signIn: SignIn
  ) => Effect.Effect<NewSession, CodeRejected | StorageError.StorageError>

  /**
   * Starts a session with these rights, which the caller has verified, and ends the one that it replaces. If the subject
   * has `sessionsMax` sessions, the one that was not used for the longest time ends.
   */
  readonly start: (grant: Session.Grant, signIn: SignIn) => Effect.Effect<NewSession, StorageError.StorageError>

  /**
   * Returns the session of a token and records the use, at most once a minute; a use that cannot be recorded is dropped.
   * A malformed token costs no statement.
   */
  readonly authenticate: (
    token: Redacted.Redacted
  ) => Effect.Effect<Session.Session, SessionRejected | StorageError.StorageError>

  /** Returns the session of a token without recording a use. */
  readonly peek: (
    token: Redacted.Redacted
  ) => Effect.Effect<Session.Session, SessionRejected | StorageError.StorageError>

  /**
   * Begins to view an account with the rights of a viewer, for `viewMaxAge` and at most until the session ends. Replaces the
   * view of another account. The session must be of an operator; the caller has verified that the account exists.
   */
  readonly startView: (session: Session.Session, account: string) => Effect.Effect<Session.View, Failure>

  /** Ends the view of an account. Idempotent. */
  readonly endView: (session: Session.Session) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the sessions within reach of a session that have not ended, the one that was used last first. */
  readonly list: (grant: Session.Grant) => Effect.Effect<ReadonlyArray<Session.Session>, StorageError.StorageError>

  /** Ends a session within reach of a session. */
  readonly end: (grant: Session.Grant, id: Session.SessionId) => Effect.Effect<void, Failure>

  /** Ends all sessions within reach of a session except itself, and deletes the sign-in codes. Idempotent. */
  readonly endOthers: (current: Session.Session) => Effect.Effect<void, StorageError.StorageError>

  /** Ends the session of a token, if there is one. */
  readonly signOut: (
    token: Redacted.Redacted
  ) => Effect.Effect<Option.Option<Session.Session>, StorageError.StorageError>

  /** Ends all sessions of an account, or of a subject, and deletes the sign-in codes. Idempotent. */
  readonly endAll: (reach: Session.Reach) => Effect.Effect<void, StorageError.StorageError>

  /** Deletes up to `limit` sessions and codes that have ended. `layerSweep` calls it at an interval. */
  readonly deleteEnded: (limit: number) => Effect.Effect<number, StorageError.StorageError>
}>()("@kinora/sessions/Sessions") {}

/** Options for `layerWith` and `layerPostgres`. */
export interface SessionsOptions {
  /** How long a session of an account stays valid without a use. Default 12 hours. */
  readonly idle?: Duration.Input | undefined
  /** Maximum age of a session of an account. Default 7 days. */
  readonly maxAge?: Duration.Input | undefined
  /** How long a session of an operator stays valid without a use. Default 1 hour. */
  readonly operatorIdle?: Duration.Input | undefined
  /** Maximum age of a session of an operator. Default 12 hours. */
  readonly operatorMaxAge?: Duration.Input | undefined
  /** How long an operator views an account. Default 1 hour. */
  readonly viewMaxAge?: Duration.Input | undefined
  /** How long a sign-in code is valid. Default 10 minutes. */
  readonly codeMaxAge?: Duration.Input | undefined
  /** Maximum number of sessions of a subject. Default 20. */
  readonly sessionsMax?: number | undefined
  /** Maximum number of valid sign-in codes of a subject. Default 20. */
  readonly codesMax?: number | undefined
}

const make = Effect.fnUntraced(function*(options: SessionsOptions) {
  const { codeMaxAge = "10 minutes", codesMax = 20 } = options
  const store = yield* SessionStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, random)
  const start = makeStart(store, options)
  const { authenticate, peek } = makeAuthentication(store, options)

  return Sessions.of({
    createCode: Effect.fn("Sessions.createCode")(
      function*(grant: Session.Grant) {
        const subject = Session.subjectOf(grant)
        const [, count] = yield* Pipelining.both(store.lock(subject), store.countCodes(subject))
        if (count >= codesMax) {
          return yield* new SessionsError({ reason: new TooManyCodes({ codesMax }) })
        }
        const code = yield* SessionToken.make
        const maxAge = Duration.fromInputUnsafe(codeMaxAge)
        return { ...(yield* store.insertCode(grant, SessionToken.hash(code), maxAge)), code }
      },
      withRandom,
      atomically
    ),

    redeem: Effect.fn("Sessions.redeem")(
      function*(code: Redacted.Redacted, signIn: SignIn) {
        if (!SessionToken.isWellFormed(Redacted.value(code))) return yield* new CodeRejected({ reason: "unknown" })
        const taken = yield* store.takeCode(SessionToken.hash(code))
        if (Option.isNone(taken)) return yield* new CodeRejected({ reason: "unknown" })
        const { at, code: { expiresAt, grant } } = taken.value
        if (DateTime.isLessThanOrEqualTo(expiresAt, at)) return yield* new CodeRejected({ reason: "expired" })
        return yield* start(grant, signIn)
      },
      withRandom,
      atomically
    ),

    start: Effect.fn("Sessions.start")(
      (grant: Session.Grant, signIn: SignIn) => start(grant, signIn),
      withRandom,
      atomically
    ),

    authenticate,
    peek,
    ...makeViews(store, options),
    ...makeEnds(store, atomically)
  })
})

/** Provides the service over the surrounding store. */
export const layerWith = (
  options: SessionsOptions
): Layer.Layer<Sessions, never, SessionStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(Sessions, make(options))

/** Provides sessions and members in the memory of the process, for tests. */
export const layerMemory: Backend.MemoryLayer<Sessions | Members.Members> = Layer.merge(
  layerWith({}),
  Members.layerWith({})
).pipe(Backend.memory(MemorySessionStore.layer))

/** Provides sessions and members in Postgres. Runs the pending migrations of the package while the layer is built. */
export const layerPostgres = (
  options: SessionsOptions & Members.MembersOptions = {}
): Backend.PostgresLayer<Sessions | Members.Members> =>
  Layer.merge(layerWith(options), Members.layerWith(options)).pipe(Backend.postgres(SqlSessionStore))

/** Deletes sessions and codes that have ended in the background: 500 per statement and every 5 minutes. Any number of hosts may run it. */
export const layerSweep = Sweep.make({
  name: "ended sessions",
  interval: "5 minutes",
  limit: 500,
  run: (limit) => Sessions.use(({ deleteEnded }) => deleteEnded(limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idleOf = ({ scope }: Session.Grant, { idle = "12 hours", operatorIdle = "1 hour" }: SessionsOptions) =>
  Duration.fromInputUnsafe(scope === "operator" ? operatorIdle : idle)

const maxAgeOf = ({ scope }: Session.Grant, { maxAge = "7 days", operatorMaxAge = "12 hours" }: SessionsOptions) =>
  Duration.fromInputUnsafe(scope === "operator" ? operatorMaxAge : maxAge)

/** Creates `Sessions.startView` and `Sessions.endView`. */
const makeViews = (store: SessionStore["Service"], { viewMaxAge = "1 hour" }: SessionsOptions) => ({
  startView: Effect.fn("Sessions.startView")(function*({ grant, id }: Session.Session, account: string) {
    if (grant.scope !== "operator") return yield* Effect.die(new Error("Only sessions of operators view accounts"))
    const saved = yield* store.saveView(id, Option.some({ account, maxAge: Duration.fromInputUnsafe(viewMaxAge) }))
    const view = Option.flatMap(saved, ({ view }) => view)
    return Option.isSome(view)
      ? view.value
      : yield* new SessionsError({ reason: new SessionNotFound({ session: id }) })
  }),

  endView: Effect.fn("Sessions.endView")(({ id }: Session.Session) => Effect.asVoid(store.saveView(id, Option.none())))
})

/** Creates the function that starts a session in the surrounding unit of work. */
const makeStart = (store: SessionStore["Service"], options: SessionsOptions) => {
  const { sessionsMax = 20 } = options
  return Effect.fnUntraced(function*(grant: Session.Grant, { address, device, notAfter, replaces }: SignIn) {
    const subject = Session.subjectOf(grant)
    const findReplaced = replaces === undefined || !SessionToken.isWellFormed(Redacted.value(replaces))
      ? Effect.succeedNone
      : store.findSession(SessionToken.hash(replaces))
    const [, [replaced, found]] = yield* Pipelining.both(
      store.lock(subject),
      Pipelining.both(findReplaced, store.listSessions({ subject }))
    )
    const isReplaced = (id: Session.SessionId) => Option.exists(replaced, ({ session }) => session.id === id)
    const others = found.filter(({ session }) => !isReplaced(session.id))
    // In one set, so that two sign-ins that replace each other's sessions lock them in the same order.
    yield* Pipelining.atCommit(store.deleteSessions([
      ...Option.toArray(replaced).map(({ session }) => session.id),
      ...Session.displaced(others, sessionsMax)
    ]))
    const token = yield* SessionToken.make
    const session = yield* store.insertSession({
      id: yield* Session.SessionId.make,
      hash: SessionToken.hash(token),
      grant,
      device: Option.map(device, Session.deviceOf),
      address,
      idle: idleOf(grant, options),
      maxAge: maxAgeOf(grant, options),
      notAfter: Option.fromUndefinedOr(notAfter)
    })
    return { session, token }
  })
}

/** Creates `Sessions.authenticate` and `Sessions.peek`. */
const makeAuthentication = (store: SessionStore["Service"], options: SessionsOptions) => {
  const find = Effect.fnUntraced(function*(token: Redacted.Redacted) {
    if (!SessionToken.isWellFormed(Redacted.value(token))) return yield* new SessionRejected({ reason: "unknown" })
    const found = yield* store.findSession(SessionToken.hash(token))
    if (Option.isNone(found)) return yield* new SessionRejected({ reason: "unknown" })
    const { at, session } = found.value
    const reason = Session.endedBy(session, at)
    return reason === undefined
      ? { at, session: Session.withoutEndedView(session, at) }
      : yield* new SessionRejected({ reason })
  })

  return {
    peek: Effect.fn("Sessions.peek")((token: Redacted.Redacted) => Effect.map(find(token), ({ session }) => session)),

    authenticate: Effect.fn("Sessions.authenticate")(function*(token: Redacted.Redacted) {
      const { at, session } = yield* find(token)
      if (!Session.isUseDue(session, at)) return session
      const idle = idleOf(session.grant, options)
      yield* Effect.catchCause(
        store.noteUse(session.id, idle),
        (cause) => Effect.logWarning("Recording the use of a session failed", cause)
      )
      return { ...session, seenAt: at, idleUntil: DateTime.addDuration(at, idle) }
    })
  }
}
