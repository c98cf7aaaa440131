/** Examples of jobs in the state in which an operation leaves them. Other examples are about a completed job. */
import { definitionOf } from "../ErrorCode.ts"
import { time } from "./exampleValues.ts"

/** Returns the example of the body of a response. `operation` is the id of the operation. */
export const jobExample = (operation: string, status: string, completed: unknown): unknown => {
  const state = states[`${operation} ${status}`]
  if (state === undefined || typeof completed !== "object" || completed === null) return completed
  const known = Object.entries(state).filter(([name]) => name in completed)
  return { ...completed, ...Object.fromEntries(known), ...operation === "generations.create" && { next } }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const next = { action: "poll", after_seconds: 2 }

const withoutResult = { output: null, preview_url: null, thumb_url: null, poster_url: null, result_expires_at: null }

const queued = { ...withoutResult, status: "queued", started_at: null, finished_at: null }
const cancelled = { ...withoutResult, status: "cancelled", refunded: true, started_at: null, finished_at: time }
const processing = { ...withoutResult, status: "processing", finished_at: null }
const failed = {
  ...withoutResult,
  status: "failed",
  refunded: true,
  error: { code: "generation_failed", message: definitionOf("generation_failed").message, reason: "internal" },
  finished_at: time
}

const states: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "generations.create 201": queued,
  "generations.cancel 200": cancelled,
  "generations.cancelGeneration 200": cancelled,
  "generations.failGeneration 200": failed,
  "generations.requeueGeneration 200": processing
}
