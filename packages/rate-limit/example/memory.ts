import { Limits, RateLimit } from "@kinora/rate-limit"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const { hit } = yield* RateLimit.RateLimit
  for (let n = 0; n < 3; n++) {
    const { accepted, remaining } = yield* hit({ key: "requests/ada", limit: 2 })
    yield* Console.log(accepted, remaining) // true 1, true 0, false 0
  }
})

await Effect.runPromise(program.pipe(Effect.provide(Limits.layerMemory)))
