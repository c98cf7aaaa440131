/** The outcomes of the last sends to each endpoint. */
import type { EndpointId } from "../../Endpoint.ts"

/** Number of fast successes in a row, or `"suspect"` after a send that failed or was slow. */
export type Standing = number | "suspect"

/** Standing of an endpoint without a recorded send. */
export const unknown = 0

/** Kind of a standing. An endpoint is proven if its last send was a fast success. */
export type Kind = "proven" | "unknown" | "suspect"

/** Returns the kind of a standing. */
export const kindOf = (standing: Standing): Kind =>
  standing === "suspect" ? "suspect" : standing === unknown ? "unknown" : "proven"

/** Standings of the endpoints that were judged last. */
export interface Standings {
  readonly of: (endpoint: EndpointId) => Standing
  /** Records whether a send was a fast success. */
  readonly judge: (endpoint: EndpointId, isGood: boolean) => void
}

/** Creates standings of at most `max` endpoints. An evicted endpoint becomes unknown, so a dead one does not become proven. */
export const make = (max: number): Standings => {
  // Least recently judged first.
  const known = new Map<EndpointId, Standing>()
  const of = (endpoint: EndpointId) => known.get(endpoint) ?? unknown
  return {
    of,
    judge: (endpoint, isGood) => {
      const next = isGood ? afterGood(of(endpoint)) : "suspect"
      known.delete(endpoint)
      known.set(endpoint, next)
      if (known.size > max) known.delete(known.keys().next().value!)
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const afterGood = (standing: Standing): Standing => standing === "suspect" ? 1 : Math.min(standing + 1, rowMax)

/** Longest row that is counted. Every limit is reached before. */
const rowMax = 30
