/**
 * The decision which endpoints get the next sends, so that no endpoint delays another. Pure.
 *
 * Sends are shared by account: the account with the fewest sends in flight goes first, and
 * inside an account the endpoint with the fewest. The number of concurrent sends to an
 * endpoint starts at one and doubles after each fast success in a row. Three rules keep room
 * for endpoints that respond. They hold for the worker as a whole and, in the same
 * proportions, inside each account:
 *
 * - Unproven endpoints (suspect or unknown) share a part of the room. Suspects may not use
 *   the last quarter of that part, and unknown endpoints may always use as much: a new
 *   endpoint is tried even while dead ones use all that they may.
 * - The last part of the room is reserved for accounts without a send to a proven endpoint in
 *   flight (inside an account: for endpoints without a send in flight). Proven endpoints that
 *   hang now therefore use at most one send each of it.
 * - Suspects may use the reserve until unproven endpoints have an eighth of their part, and
 *   unknown ones until unknown endpoints have an eighth, so proven endpoints never exclude
 *   them.
 *
 * Guarantee: while fewer than `reservedSends` minus those two eighths proven endpoints hang,
 * and any number of unproven ones, a proven endpoint of an account without sends to proven
 * endpoints in flight gets its next send immediately.
 */
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand } from "../../WebhookStore.ts"
import { kindOf, type Standing } from "./Standings.ts"

/** Limits on concurrent sends. */
export interface Limits {
  readonly sendsMax: number
  readonly accountSendsMax: number
  readonly endpointSendsMax: number
  /** The part of `sendsMax` that unproven endpoints share. */
  readonly suspectSendsMax: number
  /** The part of `sendsMax` reserved for accounts without a send to a proven endpoint in flight. */
  readonly reservedSends: number
}

/** An endpoint with sends in flight or due deliveries. */
export interface Load {
  readonly endpoint: EndpointId
  readonly account: string
  readonly standing: Standing
  /** Sends in flight. */
  readonly sends: number
  /** Whether the endpoint has due deliveries. */
  readonly isDue: boolean
}

/** Distributes the free room, up to `max` sends. Among equals, the earlier entry of `loads` goes first. */
export const share = (limits: Limits, loads: ReadonlyArray<Load>, max: number): ReadonlyArray<Demand> => {
  const granted = new Map<EndpointId, number>()
  const { accounts, whole } = roomsOf(limits, loads)
  // Accounts by their number of sends. A grant moves an account to the next list, so each list is visited once.
  const turns: Array<Array<Account>> = []
  for (const account of accounts) (turns[account.sends] ??= []).push(account)
  let left = max
  for (let sends = 0; left > 0 && sends < limits.accountSendsMax && sends < turns.length; sends++) {
    const served = new Set<Account>()
    // Among accounts with equally many sends, suspects come last.
    for (const takesSuspects of [false, true]) {
      for (const account of turns[sends] ?? []) {
        const chosen = left > 0 && !served.has(account) ? choose(limits, whole, account) : undefined
        if (chosen === undefined || (chosen.standing === "suspect" && !takesSuspects)) continue
        take(whole, chosen)
        take(account, chosen)
        chosen.sends++
        left--
        granted.set(chosen.endpoint, (granted.get(chosen.endpoint) ?? 0) + 1)
        served.add(account)
      }
    }
    if (served.size > 0) turns[sends + 1] = [...turns[sends + 1] ?? [], ...served]
  }
  return Array.from(granted, ([endpoint, limit]) => ({ endpoint, limit }))
}

/** Returns how many concurrent sends the endpoint may have by its standing. */
export const allowanceOf = ({ endpointSendsMax }: Limits, standing: Standing): number =>
  standing === "suspect" ? endpointSendsMax : Math.min(endpointSendsMax, 2 ** standing)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** The room of the worker or of one account, with the sends in flight and those granted so far. */
interface Room {
  readonly sendsMax: number
  readonly reserved: number
  readonly unprovenMax: number
  sends: number
  unproven: number
  /** The part of `unproven` that goes to unknown endpoints. */
  unknown: number
}

interface Account extends Room {
  /** Endpoints with due deliveries. */
  readonly due: Array<Mutable<Load>>
}

const roomsOf = (limits: Limits, loads: ReadonlyArray<Load>) => {
  const whole = roomFor(limits, limits.sendsMax)
  const accounts = new Map<string, Account>()
  for (const load of loads) {
    const account = accounts.get(load.account) ?? { ...roomFor(limits, limits.accountSendsMax), due: [] }
    accounts.set(load.account, account)
    take(whole, load, load.sends)
    take(account, load, load.sends)
    if (load.isDue) account.due.push({ ...load })
  }
  return { whole, accounts: accounts.values() }
}

/** Creates an empty room with the proportions of the limits. */
const roomFor = (limits: Limits, sendsMax: number): Room => ({
  sendsMax,
  reserved: Math.floor(limits.reservedSends * sendsMax / limits.sendsMax),
  unprovenMax: Math.max(1, Math.floor(limits.suspectSendsMax * sendsMax / limits.sendsMax)),
  sends: 0,
  unproven: 0,
  unknown: 0
})

const take = (room: Room, { standing }: Load, sends = 1) => {
  room.sends += sends
  const kind = kindOf(standing)
  if (kind !== "proven") room.unproven += sends
  if (kind === "unknown") room.unknown += sends
}

/** Returns the account's endpoint with the fewest sends among those that may have one more, suspects last. */
const choose = (limits: Limits, whole: Room, account: Account): Mutable<Load> | undefined => {
  const isQuiet = account.sends === account.unproven
  let chosen: Mutable<Load> | undefined
  let chosenRank = Infinity
  for (const load of account.due) {
    const rank = load.sends + (load.standing === "suspect" ? 0.5 : 0)
    if (rank >= chosenRank || load.sends >= allowanceOf(limits, load.standing)) continue
    if (!fits(whole, load, isQuiet) || !fits(account, load, load.sends === 0)) continue
    chosen = load
    chosenRank = rank
  }
  return chosen
}

/** Returns whether the room has space for one more send. `mayUseReserve` applies to proven endpoints. */
const fits = (room: Room, { standing }: Load, mayUseReserve: boolean): boolean => {
  if (room.sends >= room.sendsMax) return false
  const isOpen = room.sends < room.sendsMax - room.reserved
  const kind = kindOf(standing)
  if (kind === "proven") return isOpen || mayUseReserve
  const quarter = Math.floor(room.unprovenMax / 4)
  const eighth = Math.ceil(room.unprovenMax / 8)
  if (kind === "suspect") return room.unproven < (isOpen ? room.unprovenMax - quarter : eighth)
  return isOpen ? room.unproven < room.unprovenMax || room.unknown < quarter : room.unknown < eighth
}
