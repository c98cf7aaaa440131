/** What can be the type of an event, and the filters that name types. */
import { Effect } from "effect"
import { TypesInvalid, type WebhooksError } from "../WebhooksError.ts"
import type { Limits } from "./limits.ts"
import { refuse } from "./refuse.ts"

/** It travels in a header, so it has letters that cannot end one. */
export const isEventType = (text: string): boolean => /^[a-z0-9_.]{1,64}$/.test(text)

/** A filter as it is kept: `null`, or types without duplicates. */
export const checkTypes = (
  types: ReadonlyArray<string> | null,
  { typesMax }: Limits
): Effect.Effect<ReadonlyArray<string> | null, WebhooksError> => {
  if (types === null) return Effect.succeed(null)
  if (types.length === 0) return invalid("A filter names at least one type. Leave it out for all of them.")
  if (types.length > typesMax) return invalid(`A filter names at most ${typesMax} types.`)
  const wrong = types.findIndex((type) => !isEventType(type))
  if (wrong >= 0) return invalid(`Type ${wrong + 1} of the filter is none: it has 1 to 64 of a-z, 0-9, _ and dot.`)
  return Effect.succeed([...new Set(types)])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (message: string) => refuse(new TypesInvalid({ message }))
