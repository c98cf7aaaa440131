/** The sends of a worker, and the endpoints that are waiting for some. */
import { Effect, type Fiber, Latch } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand, Due } from "../../WebhookStore.ts"
import { type Limits, type Load, share, type Standing } from "./Fairness.ts"

/** A claimed delivery in this worker's hand, until what came of it is kept. */
export interface Slot {
  readonly claimed: Claimed
  /** When its lease ends, in milliseconds since 1970. */
  readonly until: number
  /** When its request began; `undefined`: not yet. */
  sendingSince: number | undefined
  /** Whether nothing is sent any more, and only what came of it is to be kept. */
  isOver: boolean
}

/** What is asked of the store for one endpoint. */
export interface Asked extends Demand {
  readonly listed: Due
}

/** See the module. */
export interface Slots {
  /** Opens when there may be something to ask for. Whoever asks closes it before. */
  readonly changed: Latch.Latch
  /** Whether no more endpoints can wait. */
  readonly isFull: () => boolean
  /** These endpoints have deliveries that are due. */
  readonly list: (due: ReadonlyArray<Due>) => void
  /** What to claim now, at most `max` deliveries. */
  readonly ask: (now: number, max: number) => ReadonlyArray<Asked>
  /** Notes the answer. Answers whether some endpoint has nothing more that is due. */
  readonly answer: (asked: ReadonlyArray<Asked>, taken: ReadonlyArray<Claimed>) => boolean
  /** Asks nothing for the endpoint until then. */
  readonly rest: (endpoint: EndpointId, until: number) => void
  /** Runs `body` on a fiber of its own. It holds the slot until it ends. */
  readonly hold: (slot: Slot, body: Effect.Effect<void>) => Effect.Effect<void>
  /** Nothing is sent any more, so the endpoint can have its next send; `standing` is what this one said of it. */
  readonly end: (slot: Slot, standing: Standing | undefined) => void
  /** Waits until no slot is held. */
  readonly isEmpty: Effect.Effect<void>
  /** Interrupts what holds slots, without waiting for its end; answers how many there were. */
  readonly interrupt: () => number
}

/** No sends. Those that take longer than `slowAfter` milliseconds make their endpoint a suspect. */
export const make = (limits: Limits, slowAfter: number): Slots => {
  const waiting = new Map<EndpointId, Waiting>()
  const held = new Map<EndpointId, Map<Slot, Fiber.Fiber<void> | undefined>>()
  const standings = new Map<EndpointId, Standing>()
  let count = 0
  const changed = Latch.makeUnsafe(false)
  const empty = Latch.makeUnsafe(true)

  const loadOf = (endpoint: EndpointId, account: string, now: number): Load => {
    const slots = Array.from(held.get(endpoint)?.keys() ?? [])
    const sends = slots.filter(({ isOver }) => !isOver)
    const found = waiting.get(endpoint)
    return {
      endpoint,
      account,
      standing: sends.some(({ sendingSince = now }) => sendingSince + slowAfter < now)
        ? "suspect"
        : standings.get(endpoint) ?? "unknown",
      sends: sends.length,
      // Of a claim that outlived its lease the outcome is still to be kept: nobody here may claim it again before.
      isDue: found !== undefined && found.restsUntil <= now && slots.every(({ until }) => until > now)
    }
  }

  /** Those that wait come in the order of their turns. */
  const loads = (now: number): ReadonlyArray<Load> => {
    const all = Array.from(waiting.values(), ({ due }) => loadOf(due.endpoint, due.account, now))
    for (const [endpoint, slots] of held) {
      const [slot] = slots.keys()
      if (slot !== undefined && !waiting.has(endpoint)) {
        all.push(loadOf(endpoint, slot.claimed.endpoint.account, now))
      }
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

  const judge = (endpoint: EndpointId, standing: Standing) => {
    // The one that was judged longest ago is the first that is forgotten.
    standings.delete(endpoint)
    standings.set(endpoint, standing)
    if (standings.size > standingsMax) standings.delete(standings.keys().next().value!)
  }

  return {
    changed,
    isFull: () => waiting.size >= waitingMax,
    list: (due) => {
      for (const one of due) {
        waiting.set(one.endpoint, { due: one, restsUntil: waiting.get(one.endpoint)?.restsUntil ?? 0 })
      }
      // Also when none is new: a rest may be over, or a send may have become slow.
      changed.openUnsafe()
    },
    ask: (now, max) =>
      // Outcomes that are still to be kept take room too, so that there is never more than `sendsMax` of both.
      share(limits, loads(now), Math.min(max, limits.sendsMax - count)).map((demand) => {
        const asked = waiting.get(demand.endpoint)!
        // Its next turn comes after everybody else's.
        waiting.delete(demand.endpoint)
        waiting.set(demand.endpoint, asked)
        return { ...demand, listed: asked.due }
      }),
    answer: (asked, taken) => {
      const counts = new Map<EndpointId, number>()
      for (const { endpoint } of taken) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
      const short = asked.filter(({ endpoint, limit }) => (counts.get(endpoint) ?? 0) < limit)
      for (const { endpoint, listed } of short) {
        // Listed anew meanwhile: that may be of something that this claim did not see.
        if (waiting.get(endpoint)?.due === listed) waiting.delete(endpoint)
      }
      return short.length > 0
    },
    rest: (endpoint, until) => {
      const found = waiting.get(endpoint)
      if (found !== undefined) waiting.set(endpoint, { ...found, restsUntil: until })
    },
    hold: (slot, body) =>
      Effect.suspend(() => {
        const slots = add(slot)
        return body.pipe(
          Effect.ensuring(Effect.sync(() => remove(slot, slots))),
          // A drain waits for it, so it must outlive the fiber that claimed it.
          Effect.forkDetach,
          Effect.map((fiber) => {
            if (slots.has(slot)) slots.set(slot, fiber)
          })
        )
      }),
    end: (slot, standing) => {
      slot.isOver = true
      if (standing !== undefined) judge(slot.claimed.endpoint.id, standing)
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

/** An endpoint with something to send. A resting one gets no turn. */
interface Waiting {
  readonly due: Due
  readonly restsUntil: number
}

/** Endpoints that wait for a turn. More are listed when some of these are done. */
const waitingMax = 4096

/** Endpoints of which the last send is remembered. One that is forgotten is unknown again. */
const standingsMax = 16_384
