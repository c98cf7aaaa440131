/**
 * The endpoints with something to send, in the order of their turns. Those that are
 * proven, those of which nothing is known and suspects wait in lines of their own, so
 * that however many dead ones there are, they take no place from the others.
 */
import type { EndpointId } from "../../Endpoint.ts"
import type { Due } from "../../WebhookStore.ts"
import { type Kind, kindOf, type Standings } from "./Standings.ts"

/** An endpoint in a line. A resting one gets no turn. */
interface Waiting {
  readonly due: Due
  readonly restsUntil: number
}

/** See the module. */
export interface Lines {
  readonly get: (endpoint: EndpointId) => Waiting | undefined
  /** One that waits keeps its place, another goes to the end; where a line is full it is left out, and found again later. */
  readonly put: (waiting: Waiting) => void
  /** Its next turn comes after everybody else's, in the line of what it has shown by now. */
  readonly moveToEnd: (endpoint: EndpointId) => void
  readonly delete: (endpoint: EndpointId) => void
  /** The first of each line that do not rest. */
  readonly first: (now: number) => ReadonlyArray<Due>
}

/** Empty lines, of at most `max` endpoints each. */
export const make = (standings: Standings, max: number): Lines => {
  const lines: Record<Kind, Map<EndpointId, Waiting>> = { proven: new Map(), unknown: new Map(), suspect: new Map() }
  const all = Object.values(lines)

  const lineWith = (endpoint: EndpointId) => all.find((line) => line.has(endpoint))
  const join = (waiting: Waiting) => {
    const { endpoint } = waiting.due
    const line = lines[kindOf(standings.of(endpoint))]
    if (line.size < max) line.set(endpoint, waiting)
  }

  return {
    get: (endpoint) => lineWith(endpoint)?.get(endpoint),
    put: (waiting) => {
      const line = lineWith(waiting.due.endpoint)
      if (line === undefined) join(waiting)
      else line.set(waiting.due.endpoint, waiting)
    },
    moveToEnd: (endpoint) => {
      const line = lineWith(endpoint)
      const waiting = line?.get(endpoint)
      if (line === undefined || waiting === undefined) return
      line.delete(endpoint)
      join(waiting)
    },
    delete: (endpoint) => {
      lineWith(endpoint)?.delete(endpoint)
    },
    first: (now) => all.flatMap((line) => firstOf(line, now))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints of a line that are considered for a turn at the same time: what a decision costs does not grow with the line. */
const consideredMax = 256

const firstOf = (line: ReadonlyMap<EndpointId, Waiting>, now: number) => {
  const found: Array<Due> = []
  for (const { due, restsUntil } of line.values()) {
    if (restsUntil > now) continue
    found.push(due)
    if (found.length === consideredMax) break
  }
  return found
}
