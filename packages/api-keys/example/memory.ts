import { ApiKeys, KeyTerms } from "@kinora/api-keys"
import { Console, Effect, Option } from "effect"

const program = Effect.gen(function*() {
  const keys = yield* ApiKeys.ApiKeys
  // `key` is redacted. Show it to its owner now, since it cannot be read again.
  const { key, record } = yield* keys.create({
    owner: "ada",
    name: "laptop",
    terms: { scopes: Option.some(["read"]) }
  })

  // Verify the key of every request: mostly from the cache.
  const { owner, terms } = Option.getOrThrow(yield* keys.verify(key))
  yield* Console.log(owner, KeyTerms.hasScope(terms, "read"), KeyTerms.hasScope(terms, "write")) // ada true false

  yield* keys.revoke("ada", record.id)
  yield* Console.log(Option.isNone(yield* keys.verify(key))) // true
})

await Effect.runPromise(Effect.provide(program, ApiKeys.layerMemory))
