/** The rules of counters that stores apply. */
export {
  add,
  type AddedKind,
  type Amount,
  type Counted,
  type CounterKind,
  type Current,
  type Demand,
  endOf,
  type Grant,
  type PeriodKind,
  periodOf,
  type Slot,
  slotText,
  sorted,
  type Take,
  take,
  type Used,
  type Window,
  windows
} from "../counter.ts"
