/** References of operations that happen once. */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"

/** The flag that names an operation, so that it can be repeated. */
export const reference = Flag.String("reference").pipe(
  Flag.withDescription("Name of the operation: repeating it with this name changes nothing. Default: a new one"),
  Flag.optional
)

/** Returns the given reference, or a new one. */
export const referenceOf = Effect.fnUntraced(function*(given: Option.Option<string>) {
  if (Option.isSome(given)) return given.value
  const { uuidV7 } = yield* SecureRandom.SecureRandom
  return `kinora-${yield* uuidV7()}`
})
