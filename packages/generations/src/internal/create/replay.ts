/** Lookups of earlier requests by their identity. */
import { Idempotency } from "@kinora/idempotency/Idempotency"
import { Effect, Option } from "effect"
import type { RequestIdentity } from "../../CreateCommand.ts"
import type { GenerationId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import type { Reads } from "../read/reads.ts"
import { refuse } from "../refuse.ts"
import { requestOf } from "./admittedJob.ts"

/** Makes the use-cases `replay` and `extend`. */
export const makeReplay = Effect.fnUntraced(function*({ find, get }: Pick<Reads, "find" | "get">) {
  const idempotency = yield* Idempotency

  const replay = Effect.fn("Generations.replay")(function*(account: string, identity: RequestIdentity) {
    const found = yield* idempotency.find(requestOf(identity))
    if (found._tag === "Reused") return yield* refuse(new GenerationError.KeyReused())
    if (found._tag === "None") return Option.none()
    const { reference } = found
    const generation = yield* get(account, reference)
    if (identity.key !== undefined || !generation.refunded) return Option.some(generation)
    // Without a key, the window ends when the job is refunded. Only the claim of that job is freed, so of several
    // concurrent repetitions one creates the new job and the others replay it.
    yield* idempotency.release([{ ...requestOf(identity), reference }])
    return Option.none()
  })

  const extend = Effect.fn("Generations.extend")(
    function*(account: string, identity: RequestIdentity, id: GenerationId) {
      const found = yield* find(id)
      if (Option.isNone(found) || found.value.account !== account) return
      yield* idempotency.extend({ ...requestOf(identity), reference: id })
    }
  )

  return { replay, extend }
})
