/** Handlers of changes by operators and by members of accounts, each with an entry in the audit log. */
import { AuditLog } from "@kinora/operators"
import type { AuditChange } from "@kinora/operators/AuditEntry"
import { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Option } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { currentRequest } from "./currentRequest.ts"
import { type Answered, answering, type ErrorOf, type RefusalName, type ServicesOf } from "./refusals.ts"

/** The parts of a handler's request that an entry needs. */
export interface ChangeRequest {
  readonly endpoint: HttpApiEndpoint.Top
  readonly group: HttpApiGroup.Top
  readonly params?: Readonly<Record<string, string>>
}

/** Makes a handler that responds to the named refusals with their API errors, and records its change. */
type MakeChange = <
  const Name extends RefusalName,
  Request extends ChangeRequest,
  Yielded extends Effect.Effect<unknown, unknown, unknown>,
  A
>(
  names: ReadonlyArray<Name>,
  body: (request: Request) => Generator<Yielded, A, never>
) => (request: Request) => Effect.Effect<A, Answered<ErrorOf<Yielded>, Name>, ServicesOf<Yielded>>

/**
 * `answers` for a handler that changes something: the handler and its entry in the audit
 * log are one unit of work, so a refused change leaves no entry. The unit may run the
 * handler again after a conflict. A handler that found nothing to change leaves no entry
 * either: it notes `unchanged`.
 *
 * The subject of the entry is the last id of the path, unless the handler notes another one.
 */
export const changes: MakeChange = (names, body) => {
  const run = Effect.fnUntraced(body)
  return (request) => answering(names, audited(request, run(request)))
}

/**
 * `changes` for a handler that calls other servers, such as a name server, for which a unit of work must not wait. The entry
 * is appended after the change.
 */
export const slowChanges: MakeChange = (names, body) => {
  const run = Effect.fnUntraced(body)
  return (request) => answering(names, auditedAfter(request, run(request)))
}

/** The author of a change. */
export type Author = Pick<AuditChange, "actor" | "role">

/**
 * Makes the function that provides `changes` with the author, the log and the unit of work. Handlers
 * cannot require them, since what a handler requires has to come with the request.
 */
export const makeProvide = Effect.gen(function*() {
  const [audit, unit] = [yield* AuditLog.AuditLog, yield* UnitOfWork.UnitOfWork]
  return <A, E, R>(app: Effect.Effect<A, E, R>, author: Author) =>
    Effect.provideService(app, Auditing, { audit, unit, author })
})

/** The author of the changes of the current request. Dies without authentication. */
export const currentAuthor: Effect.Effect<Author> = Effect.suspend(() => Effect.map(auditingOf, ({ author }) => author))
/** Notes of a handler about its change. */
interface Note extends Partial<Pick<AuditChange, "after" | "before" | "subject">> {
  /** Whether the request changed nothing, so that it leaves no entry. */
  readonly unchanged?: boolean
}

/** Adds to the entry of the current change. The values must not contain secrets or the URLs of webhooks. */
export const note = (noted: Note): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const current = fiber.getRef(Noted)
    return current === undefined
      ? Effect.die(new Error("A note was made outside of a change"))
      : Effect.sync(() => Object.assign(current, noted))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Noted = Context.Reference<Note | undefined>("@kinora/http-server/Noted", {
  defaultValue: () => undefined
})

interface AuditingServices {
  readonly audit: AuditLog.AuditLog["Service"]
  readonly unit: UnitOfWork.UnitOfWork["Service"]
  readonly author: Author
}

const Auditing = Context.Reference<AuditingServices | undefined>("@kinora/http-server/Auditing", {
  defaultValue: () => undefined
})

const auditingOf = Effect.flatMap(Auditing, (auditing) =>
  auditing === undefined
    ? Effect.die(new Error("A change ran without authentication"))
    : Effect.succeed(auditing))

/** Runs the change and returns its result, with its entry unless it noted that nothing has changed. */
const described = Effect.fnUntraced(function*<A, E, R>(request: ChangeRequest, change: Effect.Effect<A, E, R>) {
  const { author } = yield* auditingOf
  const state = yield* currentRequest
  const note: Note = {}
  const result = yield* Effect.provideService(change, Noted, note)
  const { unchanged = false, ...noted } = note
  const entry: AuditChange | undefined = unchanged ? undefined : {
    ...author,
    address: Option.getOrElse(state.request.remoteAddress, () => "unknown"),
    requestId: state.id,
    action: `${request.group.identifier}.${request.endpoint.identifier}`,
    subject: Object.values(request.params ?? {}).at(-1) ?? null,
    before: null,
    after: null,
    ...noted
  }
  return { entry, result }
})

const audited = Effect.fnUntraced(function*<A, E, R>(request: ChangeRequest, change: Effect.Effect<A, E, R>) {
  const { audit: { append }, unit: { atomically } } = yield* auditingOf
  return yield* atomically(Effect.gen(function*() {
    const { entry, result } = yield* described(request, change)
    if (entry !== undefined) yield* append(entry)
    return result
  }))
})

const auditedAfter = Effect.fnUntraced(function*<A, E, R>(request: ChangeRequest, change: Effect.Effect<A, E, R>) {
  const { audit: { append } } = yield* auditingOf
  const { entry, result } = yield* described(request, change)
  if (entry !== undefined) yield* append(entry)
  return result
})
