/** The deliveries that a worker holds, and the endpoints whose deliveries it may claim next. */
import { Effect, type Fiber, Latch } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand, Due } from "../../WebhookStore.ts"
import { type Limits, type Load, share } from "./Fairness.ts"
import * as Lines from "./Lines.ts"
import * as Standings from "./Standings.ts"

/** A claimed delivery that the worker holds until its outcome is stored. */
export interface Slot {
  readonly claimed: Claimed
  /** End of the lease, in milliseconds since 1970. */
  readonly until: number
  /** Start of the request, in milliseconds of the monotonic clock; `undefined` before it. */
  sendingSince: number | undefined
  /** Whether the send has ended and only its outcome is left to store. */
  isOver: boolean
}

/** A moment in milliseconds, by the wall clock (since 1970) and by the monotonic clock. */
interface Moment {
  readonly now: number
  readonly monotonic: number
}

/** A demand for deliveries of one endpoint. */
export interface Asked extends Demand {
  /** The entry in the line that the demand was made for. */
  readonly listed: Due
}

/** The slots of one worker. */
export interface Slots {
  /** Opens when there may be something to claim. The worker closes it before it asks. */
  readonly changed: Latch.Latch
  /** Adds endpoints with due deliveries. */
  readonly list: (due: ReadonlyArray<Due>) => void
  /** Returns the deliveries to claim now, at most `max`. */
  readonly ask: (moment: Moment, max: number) => ReadonlyArray<Asked>
  /** Records what the store returned. Returns whether an endpoint has no further due deliveries. */
  readonly answer: (asked: ReadonlyArray<Asked>, taken: ReadonlyArray<Claimed>) => boolean
  /** Makes no demand for the endpoint before `until`, in milliseconds since 1970. */
  readonly rest: (endpoint: EndpointId, until: number) => void
  /** Runs `body` on a new fiber that holds the slot until it ends. */
  readonly hold: (slot: Slot, body: Effect.Effect<void>) => Effect.Effect<void>
  /** Ends the send of a slot, so that its endpoint may get another. `isGood` is `undefined` if no request was made. */
  readonly end: (slot: Slot, isGood: boolean | undefined) => void
  /** Waits until no slot is held. */
  readonly isEmpty: Effect.Effect<void>
  /** Interrupts the fibers that hold slots without waiting for them. Returns their number. */
  readonly interrupt: () => number
}

/** Creates empty slots. A send that takes longer than `slowAfter` milliseconds makes its endpoint a suspect. */
export const make = (limits: Limits, slowAfter: number): Slots => {
  const standings = Standings.make(standingsMax)
  const lines = Lines.make(standings, waitingMax)
  const changed = Latch.makeUnsafe(false)
  const held = makeHeld(() => changed.openUnsafe())

  const judge = (endpoint: EndpointId, isGood: boolean) => {
    const before = Standings.kindOf(standings.of(endpoint))
    standings.judge(endpoint, isGood)
    if (Standings.kindOf(standings.of(endpoint)) !== before) lines.moveToEnd(endpoint)
  }

  return {
    changed,
    list: (due) => {
      for (const one of due) lines.put({ due: one, restsUntil: lines.get(one.endpoint)?.restsUntil ?? 0 })
      // Opens even if none is new: a rest may have ended, or a send may have become slow.
      changed.openUnsafe()
    },
    ask: (moment, max) => {
      const loads = loadsOf({ lines, held, standings, slowAfter }, moment)
      // Outcomes that are not stored yet count too, so both together never exceed `sendsMax`.
      return share(limits, loads, Math.min(max, limits.sendsMax - held.size())).map((demand) => {
        const { due } = lines.get(demand.endpoint)!
        lines.moveToEnd(demand.endpoint)
        return { ...demand, listed: due }
      })
    },
    answer: (asked, taken) => {
      const counts = new Map<EndpointId, number>()
      for (const { endpoint } of taken) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
      const short = asked.filter(({ endpoint, limit }) => (counts.get(endpoint) ?? 0) < limit)
      for (const { endpoint, listed } of short) {
        // An entry that was listed again may stand for a delivery that this claim did not see.
        if (lines.get(endpoint)?.due === listed) lines.delete(endpoint)
      }
      return short.length > 0
    },
    rest: (endpoint, until) => {
      const found = lines.get(endpoint)
      if (found !== undefined) lines.put({ ...found, restsUntil: until })
    },
    hold: held.run,
    end: (slot, isGood) => {
      slot.isOver = true
      if (isGood !== undefined) judge(slot.claimed.endpoint.id, isGood)
      changed.openUnsafe()
    },
    isEmpty: held.isEmpty,
    interrupt: held.interrupt
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints in one line. Further ones are found by later polls. */
const waitingMax = 16_384

/** Endpoints whose standing is recorded. */
const standingsMax = 16_384

/** Slots by endpoint, with the fibers that hold them. */
interface Held {
  readonly of: (endpoint: EndpointId) => ReadonlyArray<Slot>
  readonly endpoints: () => Iterable<Due>
  readonly size: () => number
  readonly run: (slot: Slot, body: Effect.Effect<void>) => Effect.Effect<void>
  readonly isEmpty: Effect.Effect<void>
  readonly interrupt: () => number
}

/** Calls `onRelease` whenever a slot is released. */
const makeHeld = (onRelease: () => void): Held => {
  const held = new Map<EndpointId, Map<Slot, Fiber.Fiber<void> | undefined>>()
  const empty = Latch.makeUnsafe(true)
  let count = 0

  const add = (slot: Slot) => {
    const slots = held.get(slot.claimed.endpoint.id) ?? new Map<Slot, Fiber.Fiber<void> | undefined>()
    held.set(slot.claimed.endpoint.id, slots.set(slot, undefined))
    count++
    empty.closeUnsafe()
    return slots
  }
  const remove = (slot: Slot, slots: Map<Slot, unknown>) => {
    slots.delete(slot)
    if (slots.size === 0) held.delete(slot.claimed.endpoint.id)
    if (--count === 0) empty.openUnsafe()
  }

  return {
    of: (endpoint) => Array.from(held.get(endpoint)?.keys() ?? []),
    endpoints: () =>
      Array.from(held, ([endpoint, slots]) => {
        const [slot] = slots.keys()
        return { endpoint, account: slot!.claimed.endpoint.account }
      }),
    size: () => count,
    run: (slot, body) =>
      Effect.suspend(() => {
        const slots = add(slot)
        return body.pipe(
          Effect.ensuring(Effect.sync(() => {
            remove(slot, slots)
            onRelease()
          })),
          // A drain waits for the fiber, so it must outlive the fiber that claimed. It starts
          // immediately because a fiber that is interrupted before its start never runs `ensuring`.
          Effect.forkDetach({ startImmediately: true }),
          Effect.map((fiber) => {
            if (slots.has(slot)) slots.set(slot, fiber)
          })
        )
      }),
    isEmpty: empty.await,
    interrupt: () => {
      const fibers = Array.from(held.values(), (slots) => Array.from(slots.values())).flat()
      for (const fiber of fibers) fiber?.interruptUnsafe()
      return fibers.length
    }
  }
}

interface Room {
  readonly lines: Lines.Lines
  readonly held: Held
  readonly standings: Standings.Standings
  readonly slowAfter: number
}

/** Loads of all endpoints, waiting ones first and in the order of their turns. */
const loadsOf = (room: Room, moment: Moment): ReadonlyArray<Load> => {
  const waiting = room.lines.first(moment.now)
  const known = new Set(waiting.map(({ endpoint }) => endpoint))
  const all = waiting.map((due) => loadOf(room, due, true, moment))
  for (const due of room.held.endpoints()) {
    if (!known.has(due.endpoint)) all.push(loadOf(room, due, false, moment))
  }
  return all
}

const loadOf = (room: Room, { account, endpoint }: Due, isWaiting: boolean, moment: Moment): Load => {
  const slots = room.held.of(endpoint)
  const sends = slots.filter(({ isOver }) => !isOver)
  return {
    endpoint,
    account,
    standing: standingOf(room, endpoint, sends, moment),
    sends: sends.length,
    // If a claim outlived its lease and its outcome is not stored yet, this worker must not claim the delivery again.
    isDue: isWaiting && slots.every(({ until }) => until > moment.now)
  }
}

/** A proven endpoint becomes a suspect as soon as one of its sends is slow. An unknown one has a single send and stays unknown. */
const standingOf = (
  { slowAfter, standings }: Room,
  endpoint: EndpointId,
  sends: ReadonlyArray<Slot>,
  { monotonic }: Moment
): Standings.Standing => {
  const standing = standings.of(endpoint)
  const isSlow = sends.some(({ sendingSince = monotonic }) => sendingSince + slowAfter < monotonic)
  return isSlow && Standings.kindOf(standing) === "proven" ? "suspect" : standing
}
