/** The maps that hold the books in memory. */
import type { MemoryBackend, MemoryMap } from "@kinora/persistence/UnitOfWork"
import type { Hold } from "../../Hold.ts"
import type { Lot, LotId } from "../../Lot.ts"
import type { Transaction, TransactionId } from "../../Transaction.ts"
import * as Book from "../Book.ts"
import type { OpenHolds, QuotaCount, TransactionName } from "../stored.ts"

/** All books. Changes belong to the open unit of work. */
export interface Cells {
  readonly accounts: MemoryMap<string, string>
  /** The new names of accounts that are being forgotten. */
  readonly forgetting: MemoryMap<string, string>
  readonly lots: MemoryMap<LotId, Lot>
  /** Ids of lots that are not closed, by account. */
  readonly openLots: MemoryMap<string, ReadonlySet<LotId>>
  readonly quotas: MemoryMap<string, QuotaCount>
  /** By `keyOf`. */
  readonly transactions: MemoryMap<string, Transaction>
  /** Keys of the refunds of parts of each charge, by the key of a refund of the rest. */
  readonly partKeys: MemoryMap<string, ReadonlyArray<string>>
  readonly transactionIds: MemoryMap<TransactionId, TransactionId>
  /** By `holdKeyOf`. */
  readonly holds: MemoryMap<string, Hold>
  /** The holds of each account that are open. */
  readonly openHolds: MemoryMap<string, OpenHolds>
}

/** Creates empty books. */
export const make = (memory: MemoryBackend["Service"]): Cells => ({
  accounts: memory.makeMap(),
  forgetting: memory.makeMap(),
  lots: memory.makeMap(),
  openLots: memory.makeMap(),
  quotas: memory.makeMap(),
  transactions: memory.makeMap(),
  partKeys: memory.makeMap(),
  transactionIds: memory.makeMap(),
  holds: memory.makeMap(),
  openHolds: memory.makeMap()
})

/** The key of a transaction. */
export const keyOf = ({ account, kind, part = "", reference }: TransactionName): string =>
  `${kind}\n${account}\n${reference}\n${part}`

/** The key of a hold. */
export const holdKeyOf = ({ account, reference }: Pick<Hold, "account" | "reference">): string =>
  `${account}\n${reference}`

/** The key of a counter. */
export const quotaKeyOf = ({ account, day, kind }: Pick<QuotaCount, "account" | "day" | "kind">): string =>
  `${account}\n${Book.ofQuota(kind, day)}`

/** Returns the sums of the open holds of an account, if it has any. */
export const openHoldsOf = ({ openHolds }: Cells, account: string): ReadonlyArray<OpenHolds> =>
  [openHolds.get(account) ?? []].flat().filter(({ count }) => count > 0)

/** Returns the transaction of a name, or all refunds of a charge. */
export const findNamed = ({ partKeys, transactions }: Cells, name: TransactionName): ReadonlyArray<Transaction> => {
  const key = keyOf(name)
  return [key, ...partKeys.get(key) ?? []].flatMap((key) => transactions.get(key) ?? [])
}

/** Returns lots of an account that are not empty and expire later than `after`, soonest expiry first. */
export const findLiveLots = (
  cells: Cells,
  account: string,
  after: Lot["expiresAt"],
  limit: number
): ReadonlyArray<Lot> =>
  Array.from(openLotsOf(cells, account), (id) => cells.lots.get(id)!)
    .filter((lot) => lot.remaining > 0 && lot.expiresAt.epochMilliseconds > after.epochMilliseconds)
    .toSorted(byExpiry)
    .slice(0, limit)

/** Returns ids of the account's lots that are not closed. */
export const openLotsOf = ({ openLots }: Cells, account: string): ReadonlySet<LotId> =>
  openLots.get(account) ?? new Set()

/** Sorts by expiry, soonest first. */
export const byExpiry = (one: Pick<Lot, "expiresAt">, other: Pick<Lot, "expiresAt">): number =>
  one.expiresAt.epochMilliseconds - other.expiresAt.epochMilliseconds
