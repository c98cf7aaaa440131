/** Generations with a result that were read a moment ago, so that a download of many ranges reads its generation once. */
import { type DateTime, Duration } from "effect"
import type { Generation } from "../../Generation.ts"

/**
 * Makes an empty set of at most 1,000 generations, each of which is kept for `age` after it was read. A generation that has a
 * result changes only when the result expires, which its readers check, and when its account is erased.
 */
export const makeRecentResults = (age: Duration.Duration) => {
  const ageMillis = Duration.toMillis(age)
  const recent = new Map<string, { readonly generation: Generation; readonly readAt: number }>()

  /** Returns the generation that was kept under the text of an id. */
  const get = (text: string, now: DateTime.Utc): Generation | undefined => {
    const found = recent.get(text)
    if (found === undefined) return undefined
    const passed = now.epochMilliseconds - found.readAt
    if (passed >= 0 && passed < ageMillis) return found.generation
    recent.delete(text)
    return undefined
  }

  /** Keeps a generation that was read at `now`, if it has a result. It does not replace an earlier one. */
  const keep = (text: string, generation: Generation, now: DateTime.Utc): void => {
    if (ageMillis === 0 || generation.output === null || recent.has(text)) return
    // The first one is the oldest.
    const [oldest] = recent.keys()
    if (recent.size >= generationsMax && oldest !== undefined) recent.delete(oldest)
    recent.set(text, { generation, readAt: now.epochMilliseconds })
  }

  return { get, keep }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const generationsMax = 1_000
