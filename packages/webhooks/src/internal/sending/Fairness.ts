/**
 * Whom the next sends are for, so that no endpoint waits for another (D46). Pure.
 *
 * Room is shared by accounts: the one with the fewest sends under way goes first, and
 * inside an account the endpoint with the fewest. An endpoint gets as many as it has
 * shown to answer: one while nothing is known of it, and twice as many after each good
 * answer in a row. Three rules leave room for those that answer, in the whole and, in
 * the same proportions, inside each account:
 *
 * - Unproven endpoints, which are suspects and those of which nothing is known, share a
 *   part of the room, however many they are. The last quarter of that part is not for
 *   suspects, and unknown ones always have as much: so a new endpoint is tried while dead
 *   ones have all that they may have.
 * - The last part of the room is reserved for accounts that have no send to a proven
 *   endpoint under way (inside an account: for endpoints that have none). So what was
 *   good and hangs now takes no more of it than one send for each endpoint.
 * - Suspects may go into the reserve until unproven ones have an eighth of their part, and
 *   unknown ones until they have an eighth, so that good ones do not keep them out for ever.
 *
 * What this promises: fewer proven endpoints than `reservedSends` less those two eighths
 * may hang, and any number of unproven ones, whenever they begin to: a proven endpoint of
 * an account without sends to proven ones still gets its next send at once.
 */
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand } from "../../WebhookStore.ts"
import { kindOf, type Standing } from "./Standings.ts"

/** How many sends there may be at the same time. */
export interface Limits {
  readonly sendsMax: number
  readonly accountSendsMax: number
  readonly endpointSendsMax: number
  /** Of `sendsMax`, those to unproven endpoints. */
  readonly suspectSendsMax: number
  /** Of `sendsMax`, those that only accounts without sends to proven endpoints may take. */
  readonly reservedSends: number
}

/** An endpoint that has sends under way, or is to have some. */
export interface Load {
  readonly endpoint: EndpointId
  readonly account: string
  readonly standing: Standing
  /** Sends under way. */
  readonly sends: number
  /** Whether there is something to send. */
  readonly isDue: boolean
}

/** Shares what room there is, up to `max` sends. Whoever comes earlier in the list goes first among equals. */
export const share = (limits: Limits, loads: ReadonlyArray<Load>, max: number): ReadonlyArray<Demand> => {
  const granted = new Map<EndpointId, number>()
  const { accounts, whole } = roomsOf(limits, loads)
  // Accounts by what they have under way. A grant moves one to the next list, so each list is passed once.
  const turns: Array<Array<Account>> = []
  for (const account of accounts) (turns[account.sends] ??= []).push(account)
  let left = max
  for (let sends = 0; left > 0 && sends < limits.accountSendsMax && sends < turns.length; sends++) {
    const served = new Set<Account>()
    // Suspects come after all others with as many.
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

/** How many sends the endpoint may have at the same time, by what it has shown. */
export const allowanceOf = ({ endpointSendsMax }: Limits, standing: Standing): number =>
  standing === "suspect" ? endpointSendsMax : Math.min(endpointSendsMax, 2 ** standing)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** All sends, or those of an account, with what is granted so far. */
interface Room {
  readonly sendsMax: number
  readonly reserved: number
  readonly unprovenMax: number
  sends: number
  unproven: number
  /** Of the unproven ones, those to endpoints of which nothing is known. */
  unknown: number
}

interface Account extends Room {
  /** Those with something to send. */
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

/** Empty, with the whole's proportions. */
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

/** The account's endpoint with the fewest sends among those that may have one more, suspects last. */
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

/** Whether one more finds room; what `mayUseReserve` says is for proven ones. */
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
