/**
 * Endpoints with due deliveries, in the order of their turns. Proven, unknown and suspect
 * endpoints wait in separate lines, so dead endpoints take no place from the others.
 */
import type { EndpointId } from "../../Endpoint.ts"
import type { Due } from "../../WebhookStore.ts"
import { type Kind, kindOf, type Standings } from "./Standings.ts"

/** An endpoint in a line. It gets no turn before `restsUntil`, in milliseconds since 1970. */
interface Waiting {
  readonly due: Due
  readonly restsUntil: number
}

/** The lines. */
export interface Lines {
  readonly get: (endpoint: EndpointId) => Waiting | undefined
  /** Updates an endpoint in its place, or appends a new one. If the line is full, the endpoint is left out and found by a later poll. */
  readonly put: (waiting: Waiting) => void
  /** Moves an endpoint to the end of the line of its current standing. */
  readonly moveToEnd: (endpoint: EndpointId) => void
  readonly delete: (endpoint: EndpointId) => void
  /** Returns the first endpoints of each line that do not rest at `now`. */
  readonly first: (now: number) => ReadonlyArray<Due>
}

/** Creates empty lines of at most `max` endpoints each. */
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

/** Endpoints of a line that are considered for a turn at once, which bounds the cost of a decision. */
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
