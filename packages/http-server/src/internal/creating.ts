/** What the two endpoints that create jobs have in common (D13, D14). */
import type { Identity } from "@kinora/accounts/Identity"
import { type Created, Generations, type RequestIdentity } from "@kinora/generations/Generations"
import { Fingerprint } from "@kinora/idempotency"
import { RateLimit } from "@kinora/rate-limit"
import { DateTime, Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentIdentity, currentRequest } from "./currentRequest.ts"
import { creation, rateLimited } from "./limits.ts"
import * as Refusals from "./refusals.ts"

/** What a request asks for. */
export interface Wanted {
  readonly plan: "studio" | "credits"
  readonly model: string
  readonly params: Readonly<Record<string, Schema.Json>>
}

/** What a request is known by. */
export interface Asked {
  /** Requests without a key are matched at the same endpoint only. */
  readonly endpoint: "generations" | "images"
  /** `Idempotency-Key`, which both endpoints share. */
  readonly key: string | undefined
  /** What makes two requests the same. */
  readonly body: Schema.Json
}

/** A job, and what its request is known by. */
export interface Answered extends Created {
  readonly request: RequestIdentity
}

/** Every way in which creating is refused (D13). */
export const refusals = {
  ModelNotFound: Refusals.ModelNotFound,
  ModelUnavailable: Refusals.ModelUnavailable,
  ModelNotInPlan: Refusals.ModelNotInPlan,
  PlanInactive: Refusals.PlanInactive,
  InvalidParams: Refusals.InvalidParams,
  InvalidImage: Refusals.InvalidImage,
  UploadNotFound: Refusals.InputUploadNotFound,
  QuotaExceeded: Refusals.QuotaExceeded,
  InsufficientCredits: Refusals.InsufficientCredits,
  QueueFull: Refusals.QueueFull,
  KeyReused: Refusals.KeyReused,
  KeyInProgress: Refusals.KeyInProgress
}

/** Creates jobs for requests. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const rateLimit = yield* RateLimit.RateLimit
  const digest = yield* Digest.Digest

  /** From here on the response describes the creation limit of this plan group (D26). */
  const describe = Effect.fnUntraced(function*(plan: Wanted["plan"]) {
    const state = yield* currentRequest
    const limit = creation(yield* currentIdentity, plan, options, yield* DateTime.now)
    state.limit = limit
    return limit
  })

  /** Counts a creation, or refuses it when the minute is full. */
  const count = Effect.fnUntraced(function*(plan: Wanted["plan"]) {
    const state = yield* currentRequest
    const verdict = yield* rateLimit.hit(yield* describe(plan))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("plan", verdict, plan)
  })

  /**
   * The job of an earlier request of this identity, or a new one. `resolve` says what
   * is wanted; a replay does not ask it, and costs no creation budget.
   */
  const create = Effect.fnUntraced(function*<E, R>(asked: Asked, resolve: Effect.Effect<Wanted, E, R>) {
    const { account }: Identity = yield* currentIdentity
    const request: RequestIdentity = {
      scope: `create:${account.id}`,
      key: asked.key,
      endpoint: asked.endpoint,
      fingerprint: yield* Effect.provideService(Fingerprint.make(asked.body), Digest.Digest, digest)
    }
    const earlier = yield* generations.replay(account.id, request)
    if (earlier._tag === "Some") {
      yield* describe(earlier.value.plan)
      return { generation: earlier.value, replayed: true, request }
    }
    const { model, params, plan } = yield* resolve
    yield* count(plan)
    const created = yield* generations.create({ account, plan, model, params, identity: request })
    return { ...created, request }
  })

  return { create, describe }
})
