/** Rules of event types and of the filters that list them. */
import { Result } from "effect"
import { TypesInvalid } from "../../WebhooksError.ts"

/** Returns whether a text is an event type. Types are sent in a header, so they must not contain line breaks. */
export const isEventType = (text: string): boolean => /^[a-z0-9_.]{1,64}$/.test(text)

/** Checks a filter and removes duplicates. `null` accepts all types. */
export const checkTypes = (
  types: ReadonlyArray<string> | null,
  { typesMax }: { readonly typesMax: number }
): Result.Result<ReadonlyArray<string> | null, TypesInvalid> => {
  if (types === null) return Result.succeed(null)
  if (types.length === 0) return invalid("The filter must contain at least one type. Omit it to receive all types.")
  if (types.length > typesMax) return invalid(`The filter must contain at most ${typesMax} types.`)
  const wrong = types.findIndex((type) => !isEventType(type))
  return wrong >= 0
    ? invalid(`Type ${wrong + 1} of the filter is invalid: a type has 1 to 64 characters of a-z, 0-9, _ and dot.`)
    : Result.succeed([...new Set(types)])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (message: string) => Result.fail(new TypesInvalid({ message }))
