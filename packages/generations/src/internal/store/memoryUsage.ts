/** Usage of accounts in memory. */
import type { MemoryMap } from "@kinora/persistence/UnitOfWork"
import { DateTime } from "effect"
import type { Generation } from "../../Generation.ts"
import type { Ending } from "../../GenerationStore.ts"
import type { KeyUsageRow, UsageRow, UsageSpan } from "../../Usage.ts"

/** The counters of all accounts. */
export interface Usage {
  /** By account, day, plan, model and kind. */
  readonly total: MemoryMap<string, UsageRow & Owned>
  /** By account, day, plan, model, kind and API key. */
  readonly byKey: MemoryMap<string, KeyUsageRow & Owned>
}

/** Counts a generation that ended. */
export const count = ({ byKey, total }: Usage, generation: Generation, { at, status }: Ending): void => {
  const { account, costCredits, key, kind, model, plan } = generation
  const day = DateTime.formatIsoDateUtc(at)
  const added = { [status]: 1, credits: status === "completed" ? costCredits ?? 0 : 0 }
  const none = { account, day, plan, model, kind, completed: 0, failed: 0, cancelled: 0, credits: 0 }
  const name = JSON.stringify([account, day, plan, model, kind])
  total.set(name, sumOf(total.get(name) ?? none, added, 1))
  if (key === null) return
  const nameWithKey = JSON.stringify([name, key])
  byKey.set(nameWithKey, sumOf(byKey.get(nameWithKey) ?? { ...none, key }, added, 1))
}

/** Returns the usage of an account, sorted. */
export const read = ({ total }: Usage, account: string, span: UsageSpan): ReadonlyArray<UsageRow> =>
  rowsOf(total, account, span)

/** Returns the usage of an account by key, sorted. */
export const readByKey = (
  { byKey, total }: Usage,
  account: string,
  span: UsageSpan,
  limit: number
): ReadonlyArray<KeyUsageRow> => {
  const rows = rowsOf(byKey, account, span)
  const rest = rowsOf(total, account, span).map((row) =>
    rows.filter((other) => placeOf(other) === placeOf(row)).reduce(
      (left, other) => sumOf(left, other, -1),
      { ...row, key: null }
    )
  )
  return [...rest.filter(({ cancelled, completed, failed }) => completed + failed + cancelled > 0), ...rows]
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)) || compare(a.key ?? "", b.key ?? ""))
    .slice(0, limit)
}

/** Deletes usage of days before `day`, oldest first, and returns the number of rows. */
export const deleteBefore = ({ byKey, total }: Usage, day: string, limit: number): number =>
  deleteRows(total, day, limit) + deleteRows(byKey, day, limit)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Owned {
  readonly account: string
}

type Counts = Pick<UsageRow, "cancelled" | "completed" | "credits" | "failed">

/** Adds counts to a row, or subtracts them. */
const sumOf = <Row extends Counts>(row: Row, added: Partial<Counts>, sign: 1 | -1): Row => ({
  ...row,
  completed: row.completed + sign * (added.completed ?? 0),
  failed: row.failed + sign * (added.failed ?? 0),
  cancelled: row.cancelled + sign * (added.cancelled ?? 0),
  credits: row.credits + sign * (added.credits ?? 0)
})

const rowsOf = <Row extends UsageRow & Owned>(
  rows: MemoryMap<string, Row>,
  account: string,
  { from, to }: UsageSpan
): ReadonlyArray<Omit<Row, "account">> =>
  Array.from(rows.values())
    .filter((row) => row.account === account && from <= row.day && row.day <= to)
    .map(({ account: _, ...row }) => row)
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)))

const placeOf = ({ day, kind, model, plan }: Pick<UsageRow, "day" | "kind" | "model" | "plan">): string =>
  [day, plan, model, kind].join("\0")

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const deleteRows = <Row extends UsageRow>(rows: MemoryMap<string, Row>, day: string, limit: number): number => {
  const old = Array.from(rows.entries())
    .filter(([, row]) => row.day < day)
    .toSorted(([, a], [, b]) => compare(a.day, b.day))
    .slice(0, limit)
  old.forEach(([key]) => rows.delete(key))
  return old.length
}
