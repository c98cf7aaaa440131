/**
 * Sends random requests from any seed: node --conditions=@kinora/source packages/acceptance/test/fuzz.process.ts [seed]
 * [count] [clients|operators]
 */
import { Console, Effect, Layer } from "effect"
import * as FuzzedRequests from "./fuzzedHost.ts"

const [seed = "1", count = "10000", who] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const seen = yield* FuzzedRequests.run(Number(seed), Number(count), who === "operators" ? who : "clients").pipe(
    Effect.provide(yield* Layer.build(FuzzedRequests.host))
  )
  const lines = Array.from(seen, ([what, times]) => `${what}: ${times}`)
  yield* Console.log(lines.toSorted().join("\n"))
})

await Effect.runPromise(Effect.scoped(program))
