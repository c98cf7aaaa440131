/** Stores operators and audit entries in the memory of the process, for tests and for hosts that keep nothing. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import type { AuditEntry, AuditId, AuditQuery } from "./AuditEntry.ts"
import { isActive, type Operator, type OperatorId } from "./Operator.ts"
import { OperatorStore, type TokenOwner } from "./OperatorStore.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<OperatorStore, never, UnitOfWork.MemoryBackend> = Layer.effect(
  OperatorStore,
  Effect.map(
    UnitOfWork.MemoryBackend,
    (backend) => OperatorStore.of({ ...operatorMethods(backend), ...auditMethods(backend) })
  )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Row {
  readonly operator: Operator
  readonly hash: string
  readonly formerHash: string | undefined
}

const operatorMethods = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => {
  const rows = makeMap<OperatorId, Row>()
  const find = (id: OperatorId) => access(() => Option.fromUndefinedOr(rows.get(id)?.operator))
  const change = (id: OperatorId, change: (row: Row) => Row) =>
    access(() => {
      const row = rows.get(id)
      if (row !== undefined) rows.set(id, change(row))
    })

  return {
    // The memory backend runs one unit at a time, so no lock is needed.
    lockAll: () => Effect.void,
    count: (now) => access(() => Array.from(rows.values()).filter(({ operator }) => isActive(operator, now)).length),
    insert: (operator, hash) => access(() => rows.set(operator.id, { operator, hash, formerHash: undefined })),
    find,
    lock: find,
    list: (limit) =>
      access(() =>
        Array.from(rows.values(), ({ operator }) => operator).toSorted((a, b) =>
          Number(Option.isSome(a.revokedAt)) - Number(Option.isSome(b.revokedAt)) || (a.id < b.id ? 1 : -1)
        ).slice(0, limit)
      ),
    replaceToken: (id, { formerUntil, hash, prefix }) =>
      change(id, (row) => ({
        operator: { ...row.operator, prefix, formerTokenUntil: Option.some(formerUntil) },
        hash,
        formerHash: row.hash
      })),
    revoke: (id, at) => change(id, (row) => ({ ...row, operator: { ...row.operator, revokedAt: Option.some(at) } })),
    findOwner: (hash) =>
      access((): Option.Option<TokenOwner> => {
        const row = Array.from(rows.values()).find((row) => row.hash === hash || row.formerHash === hash)
        return row === undefined ? Option.none() : Option.some({ operator: row.operator, isFormer: row.hash !== hash })
      }),
    noteUse: (id, at) =>
      change(id, (row) => {
        const isNoted = Option.exists(
          row.operator.lastUsedAt,
          (last) => DateTime.isGreaterThan(last, DateTime.subtract(at, { minutes: 1 }))
        )
        return isNoted ? row : { ...row, operator: { ...row.operator, lastUsedAt: Option.some(at) } }
      })
  } satisfies Partial<OperatorStore["Service"]>
}

const auditMethods = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => {
  const rows = makeMap<AuditId, AuditEntry>()
  return {
    append: (entry) => access(() => rows.set(entry.id, entry)),
    entries: (query) =>
      access(() =>
        Array.from(rows.values())
          .filter((entry) => matches(query, entry))
          .toSorted((a, b) => a.id < b.id ? 1 : -1)
          .slice(0, query.limit)
      ),
    deleteEntries: ({ action, before, limit }) =>
      access(() => {
        const old = Array.from(rows.values())
          .filter((entry) => matches({ action, until: before, limit }, entry))
          .toSorted((a, b) => DateTime.Order(a.at, b.at))
          .slice(0, limit)
        for (const { id } of old) rows.delete(id)
        return old.length
      })
  } satisfies Partial<OperatorStore["Service"]>
}

const matches = ({ action, actor, after, since, subject, until }: AuditQuery, entry: AuditEntry): boolean =>
  (actor === undefined || entry.actor === actor) &&
  (action === undefined || entry.action === action) &&
  (subject === undefined || entry.subject === subject) &&
  (since === undefined || DateTime.isGreaterThanOrEqualTo(entry.at, since)) &&
  (until === undefined || DateTime.isLessThan(entry.at, until)) &&
  (after === undefined || entry.id < after)
