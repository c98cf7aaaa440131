/** What sends have shown of endpoints. */
import type { EndpointId } from "../../Endpoint.ts"

/** Good answers in a row; `"suspect"` after a send that failed or took long. */
export type Standing = number | "suspect"

/** Of an endpoint to which nothing was sent, or that was forgotten. */
export const unknown = 0

/** What a standing amounts to. An endpoint is proven while its last send was answered well. */
export type Kind = "proven" | "unknown" | "suspect"

/** See the type. */
export const kindOf = (standing: Standing): Kind =>
  standing === "suspect" ? "suspect" : standing === unknown ? "unknown" : "proven"

/** Remembers the endpoints that were judged last. */
export interface Standings {
  readonly of: (endpoint: EndpointId) => Standing
  /** Notes whether a send was answered well. */
  readonly judge: (endpoint: EndpointId, isGood: boolean) => void
}

/** Remembers at most `max`. One that is forgotten is unknown, so a dead one does not become good by it. */
export const make = (max: number): Standings => {
  // The one that was judged longest ago comes first.
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

/** Longer rows are not counted: by then every limit is reached. */
const rowMax = 30
