/**
 * An append-only log of the changes that operators made.
 *
 * An entry commits with the change that it records: append it in the same unit of work.
 */
import { type StorageError, Sweep } from "@kinora/persistence"
import { Context, DateTime, Duration, Effect, Layer, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { type AuditChange, type AuditEntry, AuditId, type AuditQuery, valueBytesMax } from "./AuditEntry.ts"
import { AuditValueTooLarge, OperatorsError } from "./OperatorsError.ts"
import { OperatorStore } from "./OperatorStore.ts"

/** Which entries to delete. */
export interface DeleteOlderCommand {
  /** Deletes entries that are older. */
  readonly age: Duration.Input
  /** The maximum number of entries to delete. */
  readonly limit: number
  /** Deletes only entries of this action, such as `session.signInFailed`. Default: of all actions. */
  readonly action?: string | undefined
}

/** Appends and lists entries. No method changes an entry. */
export class AuditLog extends Context.Service<AuditLog, {
  /**
   * Appends an entry in the caller's unit of work. Fails if `before` or `after` is larger
   * than `AuditEntry.valueBytesMax`. The caller must leave out secrets.
   */
  readonly append: (
    change: AuditChange
  ) => Effect.Effect<AuditEntry, OperatorsError | StorageError.StorageError>

  /** Returns the entries that match all conditions, newest first, at most `limit`. */
  readonly list: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageError.StorageError>

  /** Deletes old entries, oldest first, and returns their number. `layerSweep` calls it at an interval. */
  readonly deleteOlder: (command: DeleteOlderCommand) => Effect.Effect<number, StorageError.StorageError>
}>()("@kinora/operators/AuditLog") {}

/** Provides the log over the surrounding store. */
export const layer: Layer.Layer<AuditLog, never, OperatorStore | SecureRandom.SecureRandom> = Layer.effect(
  AuditLog,
  Effect.gen(function*() {
    const store = yield* OperatorStore
    const random = yield* SecureRandom.SecureRandom

    return AuditLog.of({
      append: Effect.fn("AuditLog.append")(function*(change: AuditChange) {
        for (const field of ["before", "after"] as const) {
          if (bytesOf(change[field]) > valueBytesMax) {
            return yield* new OperatorsError({ reason: new AuditValueTooLarge({ field, bytesMax: valueBytesMax }) })
          }
        }
        const entry: AuditEntry = { ...change, id: yield* AuditId.make, at: yield* DateTime.now }
        yield* store.append(entry)
        return entry
      }, Effect.provideService(SecureRandom.SecureRandom, random)),

      list: Effect.fn("AuditLog.list")((query: AuditQuery) =>
        // No entry contains U+0000, and the database rejects it.
        [query.action, query.actor, query.subject].some((text) => text?.includes("\0"))
          ? Effect.succeed([])
          : store.entries(query)
      ),

      deleteOlder: Effect.fn("AuditLog.deleteOlder")(function*({ action, age, limit }: DeleteOlderCommand) {
        const before = DateTime.subtractDuration(yield* DateTime.now, age)
        return yield* store.deleteEntries({ before, limit, action })
      })
    })
  })
)

/** Options for `layerSweep`. */
export interface AuditSweepOptions extends Sweep.LayerSweepOptions {
  /** How long entries are kept. Default: forever. */
  readonly entriesKept?: Duration.Input | undefined
  /** The action of the entries that are deleted, such as `session.signInFailed`. Default: all entries. */
  readonly action?: string | undefined
}

/** Deletes old entries in the background, by default none. With `entriesKept`: 500 per statement and every hour. Any number of hosts may run it. */
export const layerSweep = (
  { action, entriesKept = Duration.infinity, interval = "1 hour", limit = 500 }: AuditSweepOptions = {}
): Layer.Layer<never, never, AuditLog> =>
  Sweep.layerAged({
    name: action === undefined ? "audit entries" : `audit entries of ${action}`,
    interval,
    limit,
    age: entriesKept,
    run: (age, limit) => AuditLog.use(({ deleteOlder }) => deleteOlder({ age, limit, action }))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bytesOf = (value: Schema.Json): number => new TextEncoder().encode(JSON.stringify(value)).length

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
