/**
 * Faults of a database or a file store, for the calls of one host. A test or a random story
 * determines which of the next calls fail, and how; every other call runs unchanged.
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
 * - `truncate`: the stream of a blob ends early, without an error.
 */
export const kinds = ["delay", "hang", "lostBefore", "lostAfter", "readOnly", "full", "conflict", "truncate"] as const
/** Kind of a fault. */
export type Kind = typeof kinds[number]

/** Kind of a fault that fails a call. */
export type Failure = Exclude<Kind, "delay">

/** A fault. */
export interface Fault {
  readonly kind: Kind
  /** Duration of `delay` and `hang`. */
  readonly millis: number
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

/** A host without planned faults. */
export const make = (): Faults => {
  let planned: Array<{ readonly fault: PlannedFault; skip: number; left: number }> = []
  let isDead = false
  let hits = 0

  const next = (call: Call): Fault | undefined => {
    if (isDead) return { kind: "lostBefore", millis: 0 }
    const found = planned.find(({ fault }) => matches(fault, call))
    if (found === undefined) return undefined
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

/** Runs a call with its fault, if there is one. */
export const around = <A, E, R, F>(
  fault: Fault | undefined,
  call: Effect.Effect<A, E, R>,
  { failureOf, lose = () => {} }: Failures<F>
): Effect.Effect<A, E | F, R> => {
  if (fault === undefined || fault.kind === "truncate") return call
  const { kind, millis } = fault
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
  return kind === "readOnly" || kind === "full" ? call.isWrite : true
}
