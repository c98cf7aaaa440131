/**
 * Whom the next sends are for, so that no endpoint waits for another (D46). Pure.
 *
 * Room is shared by accounts: the one with the fewest sends under way goes first, and
 * inside an account the endpoint with the fewest. Endpoints that failed last, or take
 * long, are suspects: they share a part of the room, of the whole and of their account,
 * so that the others always find some. One of which nothing is known gets a single send
 * until it shows what it is, since after a restart every dead endpoint is unknown.
 */
import type { EndpointId } from "../../Endpoint.ts"
import type { Demand } from "../../WebhookStore.ts"

/** How many sends there may be at the same time. */
export interface Limits {
  readonly sendsMax: number
  readonly accountSendsMax: number
  readonly endpointSendsMax: number
  /** Of `sendsMax`, those to suspects; they share their account's room in the same proportion. */
  readonly suspectSendsMax: number
}

/** What the last send said of an endpoint. */
export type Standing = "unknown" | "good" | "suspect"

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
  const room = roomOf(limits, loads, max)
  // Accounts by what they have under way. A grant moves one to the next list, so each list is passed once.
  const turns: Array<Array<Account>> = []
  for (const account of accountsOf(loads)) (turns[account.sends] ??= []).push(account)
  for (let sends = 0; sends < limits.accountSendsMax && sends < turns.length; sends++) {
    for (const account of turns[sends] ?? []) {
      const chosen = room.sends > 0 ? choose(limits, account, room.suspects) : undefined
      if (chosen === undefined) continue
      grant(account, chosen, room)
      granted.set(chosen.endpoint, (granted.get(chosen.endpoint) ?? 0) + 1)
      const next = turns[sends + 1] ??= []
      next.push(account)
    }
  }
  return Array.from(granted, ([endpoint, limit]) => ({ endpoint, limit }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** An account's part in the decision, with what is granted so far. */
interface Account {
  sends: number
  suspects: number
  /** Those with something to send. */
  readonly due: Array<Mutable<Load>>
}

interface Room {
  sends: number
  suspects: number
}

const roomOf = (limits: Limits, loads: ReadonlyArray<Load>, max: number): Room => {
  let sends = 0
  let suspects = 0
  for (const load of loads) {
    sends += load.sends
    if (load.standing === "suspect") suspects += load.sends
  }
  return { sends: Math.min(max, limits.sendsMax - sends), suspects: limits.suspectSendsMax - suspects }
}

const accountsOf = (loads: ReadonlyArray<Load>): Iterable<Account> => {
  const accounts = new Map<string, Account>()
  for (const load of loads) {
    const account = accounts.get(load.account) ?? { sends: 0, suspects: 0, due: [] }
    accounts.set(load.account, account)
    account.sends += load.sends
    if (load.standing === "suspect") account.suspects += load.sends
    if (load.isDue) account.due.push({ ...load })
  }
  return accounts.values()
}

/** The account's endpoint with the fewest sends among those that may have one more. */
const choose = (limits: Limits, account: Account, suspectsRoom: number): Mutable<Load> | undefined => {
  const suspectsMax = Math.max(1, Math.floor(limits.accountSendsMax * limits.suspectSendsMax / limits.sendsMax))
  const takesSuspects = suspectsRoom > 0 && account.suspects < suspectsMax
  let chosen: Mutable<Load> | undefined
  for (const load of account.due) {
    if (load.sends >= (load.standing === "unknown" ? 1 : limits.endpointSendsMax)) continue
    if (load.standing === "suspect" && !takesSuspects) continue
    if (chosen === undefined || load.sends < chosen.sends) chosen = load
  }
  return chosen
}

const grant = (account: Account, load: Mutable<Load>, room: Room) => {
  load.sends++
  account.sends++
  room.sends--
  if (load.standing === "suspect") {
    account.suspects++
    room.suspects--
  }
}
