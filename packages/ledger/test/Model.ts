/**
 * The ledger as one would play it with coins: every credit lies in a named heap,
 * is taken one at a time, and goes back where it was. No entries, no parts, no sums.
 */
import type { Lot } from "../src/Lot.ts"

/** A lot, named by what opened it. */
export interface Heap {
  readonly name: string
  readonly account: string
  readonly kind: Lot["kind"]
  readonly imagesOnly: boolean
  readonly watermark: boolean
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
  /** The coins that are not refunded yet. */
  left: number
  /** Names of the refunds: of parts, and of the rest. */
  readonly refunds: Set<string>
}

/** In the order in which they pay. */
const kinds: ReadonlyArray<Lot["kind"]> = ["plan", "refund", "addon", "trial"]

/** Times are whole hours. */
export const make = (refundHours: number) => {
  const heaps = new Map<string, Heap>()
  const paid = new Map<string, Paid>()
  const counters = new Map<string, number>()
  let granted = 0
  let expired = 0

  const isLive = (heap: Heap, now: number) => !heap.closed && heap.expiresAt > now

  const best = (account: string, now: number, imagesOnlyAllowed: boolean, trialAllowed: boolean): Heap | undefined =>
    [...heaps.values()]
      .filter((heap) => heap.account === account && heap.coins > 0 && isLive(heap, now))
      .filter((heap) => trialAllowed || heap.kind !== "trial")
      .filter((heap) => imagesOnlyAllowed || !heap.imagesOnly)
      // A stable sort: heaps that are alike stay in the order in which they were made.
      .toSorted((one, other) =>
        one.expiresAt - other.expiresAt ||
        Number(other.imagesOnly) - Number(one.imagesOnly) ||
        kinds.indexOf(one.kind) - kinds.indexOf(other.kind) ||
        one.openedAt - other.openedAt
      )[0]

  return {
    heaps,
    counters,
    totals: () => ({ granted, expired }),

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
      { imagesOnly, trial }: { readonly imagesOnly: boolean; readonly trial: boolean }
    ) => {
      if (paid.has(`${account} ${reference}`)) return "AlreadyCharged"
      const taken: Array<string> = []
      while (taken.length < price) {
        const heap = best(account, now, imagesOnly, trial)
        if (heap === undefined) {
          for (const name of taken) heaps.get(name)!.coins++
          return "InsufficientCredits"
        }
        heap.coins--
        taken.push(heap.name)
      }
      paid.set(`${account} ${reference}`, { heaps: taken, counter: undefined, left: price, refunds: new Set() })
      return taken
    },

    count: (account: string, reference: string, limit: number, counter: string) => {
      if (paid.has(`${account} ${reference}`)) return "AlreadyCharged"
      if ((counters.get(counter) ?? 0) >= limit) return "QuotaExceeded"
      counters.set(counter, (counters.get(counter) ?? 0) + 1)
      paid.set(`${account} ${reference}`, { heaps: [], counter, left: 0, refunds: new Set() })
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
      if (charge.counter !== undefined) counters.set(charge.counter, counters.get(charge.counter)! - 1)
      // The coins that were paid last are refunded first.
      return charge.heaps.slice(charge.left, charge.left + coins).map((from) => {
        const heap = heaps.get(from)!
        if (isLive(heap, now)) {
          heap.coins++
          return from
        }
        const name = `${refundName} of ${reference} for ${from}`
        const made = heaps.get(name) ??
          {
            ...heap,
            name,
            kind: heap.kind === "trial" ? "trial" : "refund",
            openedAt: now,
            expiresAt: now + refundHours,
            coins: 0,
            closed: false
          }
        made.coins++
        heaps.set(name, made)
        return name
      })
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
