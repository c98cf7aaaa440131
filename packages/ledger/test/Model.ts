/**
 * The ledger as one would play it with coins: every credit lies in a named heap,
 * is taken one at a time, and goes back where it was. No entries, no parts, no sums.
 */
import type { LotKinds } from "./BooksCommand.ts"

/** A lot, named by what opened it. */
export interface Heap {
  readonly name: string
  readonly account: string
  readonly kind: keyof LotKinds
  readonly purpose: string | undefined
  readonly labels: ReadonlyArray<string>
  readonly openedAt: number
  readonly expiresAt: number
  coins: number
  /** Its expiry was played; a clock that is behind does not open it again. */
  closed: boolean
}

/** A charge: the heap of each coin, or the day that was counted. */
interface Paid {
  readonly heaps: ReadonlyArray<string>
  readonly counter: string | undefined
  /** The amount of a charge to a quota. */
  readonly counts: number
  /** The coins that are not refunded yet. */
  left: number
  /** Names of the refunds: of parts, and of the rest. */
  readonly refunds: Set<string>
}

/** A hold: the heap of each coin. */
interface Held {
  readonly account: string
  readonly heaps: ReadonlyArray<string>
  readonly expiresAt: number
  state: "open" | "captured" | "released" | "expired"
}

/** Which heaps may pay. */
interface Restrictions {
  readonly purpose: string | undefined
  readonly kindsAllowed: ReadonlyArray<string>
}

/** The rules of a run. */
interface Options {
  readonly refundHours: number
  readonly holdsMax: number
  readonly kinds: LotKinds
}

/** Times are whole hours. */
export const make = ({ holdsMax, kinds, refundHours }: Options) => {
  const heaps = new Map<string, Heap>()
  const paid = new Map<string, Paid>()
  const counters = new Map<string, number>()
  const holds = new Map<string, Held>()
  let granted = 0
  let expired = 0

  const isLive = (heap: Heap, now: number) => !heap.closed && heap.expiresAt > now

  const best = (account: string, now: number, { kindsAllowed, purpose }: Restrictions): Heap | undefined =>
    [...heaps.values()]
      .filter((heap) => heap.account === account && heap.coins > 0 && isLive(heap, now))
      .filter(({ kind }) => !kinds[kind].restricted || kindsAllowed.includes(kind))
      .filter((heap) => [undefined, purpose].includes(heap.purpose))
      // A stable sort: heaps that are alike stay in the order in which they were made.
      .toSorted((one, other) =>
        one.expiresAt - other.expiresAt ||
        Number(one.purpose === undefined) - Number(other.purpose === undefined) ||
        kinds[one.kind].rank - kinds[other.kind].rank ||
        one.openedAt - other.openedAt
      )[0]

  /** Takes coins, or none. */
  const take = (account: string, price: number, now: number, restrictions: Restrictions) => {
    const taken: Array<string> = []
    while (taken.length < price) {
      const heap = best(account, now, restrictions)
      if (heap === undefined) {
        for (const name of taken) heaps.get(name)!.coins++
        return "InsufficientCredits"
      }
      heap.coins--
      taken.push(heap.name)
    }
    return taken
  }

  /** Puts coins back to their heaps, or to new ones, and returns where they went. */
  const putBack = (coins: ReadonlyArray<string>, now: number, what: string) =>
    coins.map((from) => {
      const heap = heaps.get(from)!
      if (isLive(heap, now)) {
        heap.coins++
        return from
      }
      const name = `${what} for ${from}`
      const made = heaps.get(name) ??
        {
          ...heap,
          name,
          kind: kinds[heap.kind].restricted ? heap.kind : "refund",
          openedAt: now,
          expiresAt: now + refundHours,
          coins: 0,
          closed: false
        }
      made.coins++
      heaps.set(name, made)
      return name
    })

  const stateAt = ({ expiresAt, state }: Held, now: number) => state === "open" && expiresAt <= now ? "expired" : state

  return {
    heaps,
    counters,
    totals: () => ({
      granted,
      expired,
      held: [...holds.values()].reduce((sum, { heaps, state }) => sum + (state === "open" ? heaps.length : 0), 0)
    }),

    grant: (heap: Heap): "Granted" | "AlreadyGranted" => {
      if (heaps.has(heap.name)) return "AlreadyGranted"
      heaps.set(heap.name, heap)
      granted += heap.coins
      return "Granted"
    },

    /** The heap of each coin, or why not. */
    charge: (
      account: string,
      reference: string,
      price: number,
      now: number,
      restrictions: Restrictions
    ) => {
      if (paid.has(`${account} ${reference}`)) return "AlreadyCharged"
      const hold = holds.get(`${account} ${reference}`)
      if (hold !== undefined && stateAt(hold, now) === "open") return "AlreadyHeld"
      const taken = take(account, price, now, restrictions)
      if (typeof taken === "string") return taken
      paid.set(`${account} ${reference}`, {
        heaps: taken,
        counter: undefined,
        counts: 0,
        left: price,
        refunds: new Set()
      })
      return taken
    },

    count: (
      account: string,
      reference: string,
      { amount, limit }: { readonly amount: number; readonly limit: number },
      counter: string,
      now: number
    ) => {
      if (paid.has(`${account} ${reference}`)) return "AlreadyCharged"
      const hold = holds.get(`${account} ${reference}`)
      if (hold !== undefined && stateAt(hold, now) === "open") return "AlreadyHeld"
      if ((counters.get(counter) ?? 0) + amount > limit) return "QuotaExceeded"
      counters.set(counter, (counters.get(counter) ?? 0) + amount)
      paid.set(`${account} ${reference}`, { heaps: [], counter, counts: amount, left: 0, refunds: new Set() })
      return "ChargedQuota"
    },

    /** The heap that each coin of a part or of the rest went to, or why none did. */
    refund: (
      account: string,
      reference: string,
      now: number,
      part?: { readonly reference: string; readonly credits: number }
    ) => {
      const charge = paid.get(`${account} ${reference}`)
      if (charge === undefined) return "UnknownCharge"
      const refundName = part === undefined ? "the rest" : `part ${part.reference}`
      const isRefunded = part === undefined && charge.heaps.length > 0 && charge.left === 0
      if (charge.refunds.has(refundName) || isRefunded) return "AlreadyRefunded"
      if (part !== undefined && charge.counter !== undefined) return "IndivisibleCharge"
      const coins = part?.credits ?? charge.left
      if (coins > charge.left) return "RefundExceedsCharge"
      charge.refunds.add(refundName)
      charge.left -= coins
      if (charge.counter !== undefined) counters.set(charge.counter, counters.get(charge.counter)! - charge.counts)
      // The coins that were paid last are refunded first.
      return putBack(charge.heaps.slice(charge.left, charge.left + coins), now, `${refundName} of ${reference}`)
    },

    /** The heap of each coin, or why not. */
    hold: (
      account: string,
      reference: string,
      price: number,
      now: number,
      { expiresAt, ...restrictions }: Restrictions & { readonly expiresAt: number }
    ) => {
      const name = `${account} ${reference}`
      if (holds.has(name)) return "AlreadyHeld"
      if (paid.has(name)) return "AlreadyCharged"
      const open = [...holds.values()].filter((hold) => hold.account === account && hold.state === "open")
      if (open.length >= holdsMax) return "TooManyHolds"
      const taken = take(account, price, now, restrictions)
      if (typeof taken === "string") return taken
      holds.set(name, { account, heaps: taken, expiresAt, state: "open" })
      return taken
    },

    /** The heap that paid each coin, and where the others went, or why none did. */
    capture: (account: string, reference: string, now: number, price?: number) => {
      const name = `${account} ${reference}`
      const hold = holds.get(name)
      if (hold === undefined) return "UnknownHold"
      const coins = price ?? hold.heaps.length
      const state = stateAt(hold, now)
      if (state === "captured") return paid.get(name)!.heaps.length === coins ? "AlreadyCaptured" : "CaptureDiffers"
      if (state !== "open") return "HoldEnded"
      if (paid.has(name)) return "AlreadyCharged" // when the hold had expired by another clock
      if (coins > hold.heaps.length) return "CaptureExceedsHold"
      hold.state = "captured"
      const heaps = hold.heaps.slice(0, coins)
      paid.set(name, { heaps, counter: undefined, counts: 0, left: coins, refunds: new Set() })
      return { heaps, returned: putBack(hold.heaps.slice(coins), now, `the end of ${reference}`) }
    },

    /** Where each coin went, or why none did. */
    release: (account: string, reference: string, now: number) => {
      const hold = holds.get(`${account} ${reference}`)
      if (hold === undefined) return "UnknownHold"
      if (hold.state === "captured") return "HoldEnded"
      if (hold.state !== "open") return "AlreadyReleased"
      hold.state = "released"
      return putBack(hold.heaps, now, `the end of ${reference}`)
    },

    /** Ends a hold that has expired, and returns where each coin went. */
    expireHold: (account: string, reference: string, now: number) => {
      const hold = holds.get(`${account} ${reference}`)!
      if (hold.state !== "open" || hold.expiresAt > now) return undefined
      hold.state = "expired"
      return putBack(hold.heaps, now, `the end of ${reference}`)
    },

    revoke: (name: string): void => {
      const heap = heaps.get(name)!
      expired += heap.coins
      heap.coins = 0
      heap.closed = true
    },

    expire: (now: number): void => {
      for (const heap of heaps.values()) {
        if (heap.expiresAt > now) continue
        expired += heap.coins
        heap.coins = 0
        heap.closed = true
      }
    }
  }
}
