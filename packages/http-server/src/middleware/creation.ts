/** The steps that both endpoints that create jobs share. See docs/reference/http-api.md#order-of-checks. */
import { KeyTerms } from "@kinora/accounts"
import { Preparation } from "@kinora/generations/CreateCommand"
import { type Created, Generations, type RequestIdentity } from "@kinora/generations/Generations"
import { refuse } from "@kinora/http-api/ApiError"
import { Fingerprint } from "@kinora/idempotency"
import { RateLimit } from "@kinora/rate-limit"
import { DateTime, Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentIdentity, currentRequest, untimed } from "./currentRequest.ts"
import { creations, rateLimited } from "./rateLimits.ts"

/** The job to create. */
export interface Wanted {
  readonly plan: "studio" | "credits"
  readonly model: string
  readonly params: Readonly<Record<string, Schema.Json>>
}

/** The identity of a request for a job. */
export interface Asked {
  /** Requests without a key match requests of the same endpoint only. */
  readonly endpoint: "generations" | "images"
  /** `Idempotency-Key`. Both endpoints share keys. */
  readonly key: string | undefined
  /** The body. Requests with equal bodies are the same request. */
  readonly body: Schema.Json
}

/** A job with the identity of its request. */
export interface Answered extends Created {
  readonly request: RequestIdentity
}

/** The refusals of `create`. */
export const creationRefusals = [
  "ModelNotFound",
  "ModelUnavailable",
  "ModelNotInPlan",
  "PlanInactive",
  "InvalidParams",
  "InvalidImage",
  "ImageTimedOut",
  "InputPixelsExceeded",
  "UploadNotFound",
  "ContentRejected",
  "ModerationUnavailable",
  "KeyBudgetExceeded",
  "QuotaExceeded",
  "InsufficientCredits",
  "QueueFull",
  "KeyReused",
  "KeyInProgress"
] as const

/** Makes `describe` and `create`, which both create endpoints use. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const rateLimit = yield* RateLimit.RateLimit
  const digest = yield* Digest.Digest

  /** Makes the response describe the creation limit of the plan group. */
  const describe = Effect.fnUntraced(function*(plan: Wanted["plan"]) {
    const state = yield* currentRequest
    const limit = creations(yield* currentIdentity, plan, options, yield* DateTime.now)
    state.limit = limit
    return limit
  })

  /** Counts a creation. Fails if the limit is reached. */
  const count = Effect.fnUntraced(function*(plan: Wanted["plan"]) {
    const state = yield* currentRequest
    const verdict = yield* rateLimit.hit(yield* describe(plan))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("plan", verdict, plan)
  })

  /**
   * Returns the job of an earlier request with this identity, or creates one. `resolve`
   * returns the job to create; it does not run for a repeated request, which does not
   * count against the creation limit either.
   */
  const create = Effect.fnUntraced(function*<E, R>(asked: Asked, resolve: Effect.Effect<Wanted, E, R>) {
    const { account, budgetLine, keyId, terms } = yield* currentIdentity
    const request: RequestIdentity = {
      scope: `create:${account.id}`,
      key: asked.key,
      endpoint: asked.endpoint,
      // Other requests run between the pieces of a large body.
      fingerprint: yield* untimed(Effect.provideService(Fingerprint.make(asked.body), Digest.Digest, digest))
    }
    const earlier = yield* generations.replay(account.id, request)
    if (earlier._tag === "Some") {
      yield* describe(earlier.value.plan)
      return { generation: earlier.value, replayed: true, request }
    }
    const { model, params, plan } = yield* resolve
    if (!KeyTerms.hasModel(terms, model)) return yield* refuse("model_not_allowed", { details: { model } })
    yield* count(plan)
    const { budget } = yield* currentRequest
    const command = { account, key: keyId, plan, model, params, identity: request, budgetLine }
    const created = yield* generations.create(command).pipe(
      Effect.provideService(Preparation, { run: budget.paused })
    )
    return { ...created, request }
  })

  return { create, describe }
})
