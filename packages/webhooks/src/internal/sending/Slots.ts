/** The sends of a worker, and the endpoints that are waiting for some. */
import { Effect, type Fiber, Latch } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand, Due } from "../../WebhookStore.ts"
import { type Limits, type Load, share } from "./Fairness.ts"
import * as Lines from "./Lines.ts"
import * as Standings from "./Standings.ts"

/** A claimed delivery in this worker's hand, until what came of it is kept. */
export interface Slot {
  readonly claimed: Claimed
  /** When its lease ends, in milliseconds since 1970. */
  readonly until: number
  /** When its request began, in milliseconds of the monotonic clock; `undefined`: not yet. */
  sendingSince: number | undefined
  /** Whether nothing is sent any more, and only what came of it is to be kept. */
  isOver: boolean
}

/** A moment: by the wall clock, since 1970, and by the monotonic one; both in milliseconds. */
interface Moment {
  readonly now: number
  readonly monotonic: number
}

/** What is asked of the store for one endpoint. */
export interface Asked extends Demand {
  readonly listed: Due
}

/** See the module. */
export interface Slots {
  /** Opens when there may be something to ask for. Whoever asks closes it before. */
  readonly changed: Latch.Latch
  /** These endpoints have deliveries that are due. */
  readonly list: (due: ReadonlyArray<Due>) => void
  /** What to claim now, at most `max` deliveries. */
  readonly ask: (moment: Moment, max: number) => ReadonlyArray<Asked>
  /** Notes the answer. Answers whether some endpoint has nothing more that is due. */
  readonly answer: (asked: ReadonlyArray<Asked>, taken: ReadonlyArray<Claimed>) => boolean
  /** Asks nothing for the endpoint until then. */
  readonly rest: (endpoint: EndpointId, until: number) => void
  /** Runs `body` on a fiber of its own. It holds the slot until it ends. */
  readonly hold: (slot: Slot, body: Effect.Effect<void>) => Effect.Effect<void>
  /** Nothing is sent any more, so the endpoint can have its next send. `isGood`: how it answered; `undefined`: it was not asked. */
  readonly end: (slot: Slot, isGood: boolean | undefined) => void
  /** Waits until no slot is held. */
  readonly isEmpty: Effect.Effect<void>
  /** Interrupts what holds slots, without waiting for its end; answers how many there were. */
  readonly interrupt: () => number
}

/** No sends. Those that take longer than `slowAfter` milliseconds make their endpoint a suspect. */
export const make = (limits: Limits, slowAfter: number): Slots => {
  const standings = Standings.make(standingsMax)
  const lines = Lines.make(standings, waitingMax)
  const held = new Map<EndpointId, Map<Slot, Fiber.Fiber<void> | undefined>>()
  let count = 0
  const changed = Latch.makeUnsafe(false)
  const empty = Latch.makeUnsafe(true)

  /** A proven endpoint is a suspect as soon as a send takes long. An unknown one has a single send, and stays what it is. */
  const standingOf = (endpoint: EndpointId, sends: ReadonlyArray<Slot>, { monotonic }: Moment): Standings.Standing => {
    const standing = standings.of(endpoint)
    const isSlow = sends.some(({ sendingSince = monotonic }) => sendingSince + slowAfter < monotonic)
    return isSlow && Standings.kindOf(standing) === "proven" ? "suspect" : standing
  }

  const loadOf = ({ account, endpoint }: Due, isWaiting: boolean, moment: Moment): Load => {
    const slots = Array.from(held.get(endpoint)?.keys() ?? [])
    const sends = slots.filter(({ isOver }) => !isOver)
    return {
      endpoint,
      account,
      standing: standingOf(endpoint, sends, moment),
      sends: sends.length,
      // Of a claim that outlived its lease the outcome is still to be kept: nobody here may claim it again before.
      isDue: isWaiting && slots.every(({ until }) => until > moment.now)
    }
  }

  /** Those that wait come in the order of their turns. */
  const loads = (moment: Moment): ReadonlyArray<Load> => {
    const waiting = lines.first(moment.now)
    const known = new Set(waiting.map(({ endpoint }) => endpoint))
    const all = waiting.map((due) => loadOf(due, true, moment))
    for (const [endpoint, slots] of held) {
      const [slot] = slots.keys()
      if (slot === undefined || known.has(endpoint)) continue
      all.push(loadOf({ endpoint, account: slot.claimed.endpoint.account }, false, moment))
    }
    return all
  }

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
    changed.openUnsafe()
  }

  const judge = (endpoint: EndpointId, isGood: boolean) => {
    const before = Standings.kindOf(standings.of(endpoint))
    standings.judge(endpoint, isGood)
    if (Standings.kindOf(standings.of(endpoint)) !== before) lines.moveToEnd(endpoint)
  }

  return {
    changed,
    list: (due) => {
      for (const one of due) lines.put({ due: one, restsUntil: lines.get(one.endpoint)?.restsUntil ?? 0 })
      // Also when none is new: a rest may be over, or a send may have become slow.
      changed.openUnsafe()
    },
    ask: (moment, max) =>
      // Outcomes that are still to be kept take room too, so that there is never more than `sendsMax` of both.
      share(limits, loads(moment), Math.min(max, limits.sendsMax - count)).map((demand) => {
        const { due } = lines.get(demand.endpoint)!
        lines.moveToEnd(demand.endpoint)
        return { ...demand, listed: due }
      }),
    answer: (asked, taken) => {
      const counts = new Map<EndpointId, number>()
      for (const { endpoint } of taken) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
      const short = asked.filter(({ endpoint, limit }) => (counts.get(endpoint) ?? 0) < limit)
      for (const { endpoint, listed } of short) {
        // Listed anew meanwhile: that may be of something that this claim did not see.
        if (lines.get(endpoint)?.due === listed) lines.delete(endpoint)
      }
      return short.length > 0
    },
    rest: (endpoint, until) => {
      const found = lines.get(endpoint)
      if (found !== undefined) lines.put({ ...found, restsUntil: until })
    },
    hold: (slot, body) =>
      Effect.suspend(() => {
        const slots = add(slot)
        return body.pipe(
          Effect.ensuring(Effect.sync(() => remove(slot, slots))),
          // A drain waits for it, so it must outlive the fiber that claimed it. One that is
          // interrupted before it began would not even end.
          Effect.forkDetach({ startImmediately: true }),
          Effect.map((fiber) => {
            if (slots.has(slot)) slots.set(slot, fiber)
          })
        )
      }),
    end: (slot, isGood) => {
      slot.isOver = true
      if (isGood !== undefined) judge(slot.claimed.endpoint.id, isGood)
      changed.openUnsafe()
    },
    isEmpty: empty.await,
    interrupt: () => {
      const fibers = Array.from(held.values(), (slots) => Array.from(slots.values())).flat()
      for (const fiber of fibers) fiber?.interruptUnsafe()
      return fibers.length
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints in one line for a turn. Of more, those that the store lists first wait. */
const waitingMax = 16_384

/** Endpoints of which it is remembered what their sends have shown. */
const standingsMax = 16_384
