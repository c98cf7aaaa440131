/** Assigns operations to jobs, so that an upstream that returns an operation twice does not give a job the result of another one. */
import type { Model } from "@kinora/catalog/Model"
import type { Operation } from "@kinora/generator/Generator"
import { Fingerprint, IdempotencyKey } from "@kinora/idempotency"
import type { Claim, Outcome } from "@kinora/idempotency/Claim"
import { Idempotency } from "@kinora/idempotency/Idempotency"
import { Folding } from "@kinora/persistence"
import { StorageError } from "@kinora/persistence/StorageError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Duration, Effect } from "effect"
import { Digest } from "effect/crypto"
import { OperationReused } from "./operationReused.ts"
import { retryStorage } from "./retries.ts"
import type { Upstream } from "./upstream.ts"

/** An operation that an upstream returned for a job. */
export interface Returned {
  readonly job: ClaimedJob["job"]
  readonly model: Pick<Model, "time_limit">
  readonly upstream: Pick<Upstream, "account" | "name">
  readonly operation: Operation
}

/**
 * Makes a function that assigns an operation to a job. Fails with `OperationReused` if another job of the same account
 * at the upstream has it, in any process, until the result of that job expires. Assigning it to the same job again
 * changes nothing.
 */
export const makeClaimOperation = Effect.fnUntraced(function*(resultTtl: Duration.Input) {
  const { claimAll } = yield* Idempotency
  const digest = yield* Digest.Digest
  const claimOne = yield* Folding.make({
    name: "GenerationWorker.claimOperations",
    keyOf: ({ fingerprint, scope }: Claim) => `${scope} ${fingerprint}`,
    run: Effect.fnUntraced(function*(claims: ReadonlyArray<Claim>) {
      const outcomes = yield* claimAll(claims)
      return outcomes.map((outcome, index) => holderOf(outcome, index, claims))
    })
  })

  return Effect.fnUntraced(function*({ job, model, operation, upstream }: Returned) {
    const fingerprint = yield* Effect.provideService(Fingerprint.make(operation), Digest.Digest, digest)
    const holder = yield* retryStorage(Effect.catchTag(
      claimOne({
        scope: `operations/${upstream.account}`,
        key: IdempotencyKey.IdempotencyKey.Explicit({ text: fingerprint }),
        fingerprint,
        reference: job,
        window: Duration.sum(model.time_limit, Duration.fromInputUnsafe(resultTtl))
      }),
      "IdempotencyError",
      // Another process claims the operation for longer than a unit waits for it.
      (cause) => Effect.fail(new StorageError({ operation: "Idempotency.claimAll", reason: "unavailable", cause }))
    ))
    if (holder === job) return
    yield* Effect.logWarning("An upstream returned the operation of another job", {
      upstream: upstream.name,
      job,
      holder
    })
    return yield* new OperationReused({ upstream: upstream.name })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the job that has the operation of a claim, or `undefined` if it is not known. */
const holderOf = (outcome: Outcome, index: number, claims: ReadonlyArray<Claim>): string | undefined => {
  switch (outcome._tag) {
    case "Claimed":
      return claims[index]?.reference
    case "Follower":
      return claims[outcome.leader]?.reference
    case "Replay":
      return outcome.reference
    case "Reused":
      return undefined
  }
}
