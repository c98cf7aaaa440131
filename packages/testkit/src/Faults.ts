/**
 * Faults of a database or a file store, for the calls of one host. A test or a random story
 * determines which of the next calls fail, and how; every other call runs unchanged. Hosts also
 * share the condition of their stores, which can refuse all writes for a while.
 *
 * The faulty layers ask `next` before each call: `FaultySqlClient` over a database, and the
 * layers of `@kinora/acceptance` over memory stores and blob stores. Waits of faults use the
 * `Clock` of the caller, so virtual time moves them.
 */
import { Effect } from "effect"

/**
 * Calls that a fault can hit: a statement or a call of a store, the commit of a unit of work, or a
 * call of a blob store.
 */
export const places = ["statement", "commit", "put", "get", "delete"] as const
/** Place of a call. */
export type Place = typeof places[number]

/**
 * Effects of a fault on a call:
 *
 * - `delay`: the call runs after `millis`.
 * - `hang`: the call does not run. It fails as a lost connection after `millis`.
 * - `lostBefore`: the connection is lost before the call. The call does not run.
 * - `lostAfter`: the call takes effect, and its response is lost.
 * - `readOnly`: a write fails since the store is read-only (25006, `EROFS`). Reads are not hit.
 * - `full`: a write fails since the store has no room (53100, `ENOSPC`). Reads are not hit.
 * - `conflict`: the database rolls the transaction back (40001).
 */
export const callKinds = ["delay", "hang", "lostBefore", "lostAfter", "readOnly", "full", "conflict"] as const

/**
 * Effects of a fault on the bytes of a blob, at `position`. They hit `put` and `get` only.
 *
 * - `cut`: the stream fails. A put that is cut stores nothing, also if all bytes were written.
 * - `stall`: the stream pauses for `millis`.
 * - `truncate`: the blob is found to have no bytes after the position. A `get` of a range that needs them fails; one of the
 *   whole blob ends early, without an error. Puts are not hit.
 */
export const streamKinds = ["cut", "stall", "truncate"] as const

/** Kind of a fault of a stream. */
export type StreamKind = typeof streamKinds[number]
/** Kind of a fault. */
export type Kind = typeof callKinds[number] | StreamKind

/** Positions in the bytes of a blob: before the first, in the middle (of the first chunk if it is written), and after the last. */
export const positions = ["start", "middle", "end"] as const
/** Position in the bytes of a blob. */
export type Position = typeof positions[number]

/** Kind of a fault that fails a call. */
export type Failure = Exclude<Kind, "delay" | StreamKind>

/** A fault. */
export interface Fault {
  readonly kind: Kind
  /** Duration of `delay`, `hang` and `stall`. */
  readonly millis: number
  /** Where a fault of a stream happens. Default `middle`. */
  readonly position?: Position | undefined
}

/** A reason for which a store refuses all writes. */
export type Refusal = Extract<Kind, "readOnly" | "full">

/** The condition of the stores that hosts share. Reads and open transactions are not affected. */
export interface Condition {
  /** Why the database refuses statements that write. `undefined` if it accepts them. */
  database: Refusal | undefined
  /** Why the blob store refuses puts and, if it is read-only, deletes. `undefined` if it accepts them. */
  files: Refusal | undefined
}

/** A fault and the calls that it hits. */
export interface PlannedFault extends Fault {
  readonly place: Place
  /** Number of matching calls that run before the first one that is hit. */
  readonly skip: number
  /** Number of calls that are hit. */
  readonly count: number
}

/** A call that a fault can hit. */
export interface Call {
  readonly place: Place
  /** Whether the call writes. */
  readonly isWrite: boolean
  /** Whether the call has the bytes of a blob. Default `false`. */
  readonly hasBytes?: boolean | undefined
}

/** The faults of one host. */
export interface Faults {
  /** Adds a fault. If several faults match a call, the one that was added first hits it. */
  readonly plan: (fault: PlannedFault) => void
  /** Removes all planned faults. Calls that hang or are delayed continue as planned. */
  readonly clear: () => void
  /** Ends the host: from now on, every call fails as `lostBefore`. */
  readonly kill: () => void
  /** Returns the number of calls that were hit. */
  readonly hits: () => number
  /** Returns the fault of a call that is about to run. */
  readonly next: (call: Call) => Fault | undefined
}

/** Stores that accept writes. */
export const working = (): Condition => ({ database: undefined, files: undefined })

/** A host without planned faults, on stores in this condition. */
export const make = (condition: Condition = working()): Faults => {
  let planned: Array<{ readonly fault: PlannedFault; skip: number; left: number }> = []
  let isDead = false
  let hits = 0

  const next = (call: Call): Fault | undefined => {
    if (isDead) return { kind: "lostBefore", millis: 0 }
    const found = planned.find(({ fault }) => matches(fault, call))
    if (found === undefined) {
      const refusal = refusalOf(condition, call)
      if (refusal === undefined) return undefined
      hits++
      return { kind: refusal, millis: 0 }
    }
    if (found.skip > 0) {
      found.skip--
      return undefined
    }
    hits++
    found.left--
    if (found.left === 0) planned = planned.filter((other) => other !== found)
    return found.fault
  }

  return {
    plan: (fault) => void planned.push({ fault, skip: fault.skip, left: fault.count }),
    clear: () => {
      planned = []
    },
    kill: () => {
      isDead = true
    },
    hits: () => hits,
    next
  }
}

/** How a layer carries out the faults of its calls. */
export interface Failures<E> {
  /** Returns the failure of a call. */
  readonly failureOf: (kind: Failure) => E
  /** Runs when the connection of the call is lost. */
  readonly lose?: (() => void) | undefined
}

/** Returns whether a kind of fault hits the bytes of a blob instead of a call. */
export const isOfStream = (kind: Kind): kind is StreamKind => streamKinds.some((other) => other === kind)

/** Runs a call with its fault, if there is one. Faults of streams are carried out by the layer of the blob store. */
export const around = <A, E, R, F>(
  fault: Fault | undefined,
  call: Effect.Effect<A, E, R>,
  { failureOf, lose = () => {} }: Failures<F>
): Effect.Effect<A, E | F, R> => {
  if (fault === undefined) return call
  const { kind, millis } = fault
  if (isOfStream(kind)) return call
  switch (kind) {
    case "delay":
      return Effect.andThen(Effect.sleep(millis), call)
    case "hang":
    case "lostBefore":
      return Effect.suspend(() => {
        lose()
        return Effect.andThen(kind === "hang" ? Effect.sleep(millis) : Effect.void, Effect.fail(failureOf(kind)))
      })
    case "lostAfter":
      return Effect.flatMap(call, () => {
        lose()
        return Effect.fail(failureOf(kind))
      })
    default:
      return Effect.suspend(() => Effect.fail(failureOf(kind)))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const matches = ({ kind, place }: PlannedFault, call: Call): boolean => {
  if (place !== call.place) return false
  if (isOfStream(kind)) return call.hasBytes === true && (kind !== "truncate" || place === "get")
  return kind === "readOnly" || kind === "full" ? call.isWrite : true
}

/** A transaction that wrote before its database became read-only may commit. A full disk has room for deletions. */
const refusalOf = ({ database, files }: Condition, { isWrite, place }: Call): Refusal | undefined => {
  if (!isWrite || place === "commit") return undefined
  if (place === "statement") return database
  return place === "delete" && files === "full" ? undefined : files
}
