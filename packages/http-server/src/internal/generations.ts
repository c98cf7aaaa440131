/** Creating, reading and cancelling jobs over HTTP. */
import type { Identity } from "@kinora/accounts/Identity"
import type { Generation } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import type { CreateGenerationRequest } from "@kinora/http-api/Generation"
import { Fingerprint } from "@kinora/idempotency"
import { Places, RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest, type RequestState } from "./currentRequest.ts"
import { type Links, pathOf, toWire } from "./generationView.ts"
import { creation, rateLimited } from "./limits.ts"
import * as Refusals from "./refusals.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "generations",
    Effect.fnUntraced(function*(handlers) {
      const generations = yield* Generations
      const places = yield* Places.Places
      const rateLimit = yield* RateLimit.RateLimit
      const signer = yield* UrlSigner.UrlSigner
      const digest = yield* Digest.Digest

      const respond = Effect.fnUntraced(function*(
        generation: Generation,
        state: RequestState,
        init?: { readonly status: 200 | 201; readonly isReplay: boolean }
      ) {
        const links: Links = { baseUrl: options.baseUrl ?? state.origin, signer }
        const body = toWire(generation, yield* DateTime.now, links)
        return init === undefined
          ? HttpServerResponse.jsonUnsafe(body)
          : HttpServerResponse.jsonUnsafe(body, {
            status: init.status,
            headers: {
              "location": `${links.baseUrl}${pathOf(generation.id)}`,
              "idempotent-replayed": String(init.isReplay)
            }
          })
      })

      const create = Effect.fnUntraced(function*(
        payload: CreateGenerationRequest,
        key: string | undefined,
        state: RequestState,
        identity: Identity
      ) {
        const { account } = identity
        const limit = creation(identity, payload.plan, options, yield* DateTime.now)
        state.limit = limit
        const request = {
          scope: `create:${account.id}`,
          key,
          endpoint: "generations",
          fingerprint: yield* Effect.provideService(Fingerprint.make(payload), Digest.Digest, digest)
        }
        const earlier = yield* generations.replay(account.id, request)
        if (earlier._tag === "Some") return { generation: earlier.value, replayed: true }

        const verdict = yield* rateLimit.hit(limit)
        state.limit = verdict
        if (!verdict.accepted) return yield* rateLimited("plan", verdict, payload.plan)
        return yield* generations.create({
          account,
          plan: payload.plan,
          model: payload.model,
          params: payload.params,
          identity: request
        })
      })

      /** The job once it is final, if the key has a place left among those who wait (D37). */
      const awaitFinal = Effect.fnUntraced(function*(account: string, key: string, id: string, seconds: number) {
        const mayWait = yield* places.acquire({ key: `wait:${key}`, max: options.longPollsMax })
        return yield* mayWait ? generations.wait(account, id, `${seconds} seconds`) : generations.get(account, id)
      }, Effect.scoped)

      return handlers
        .handle(
          "create",
          Effect.fnUntraced(
            function*({ headers, payload }) {
              const state = yield* currentRequest
              const identity = yield* identityOf(state)
              const { generation, replayed } = yield* create(payload, headers["idempotency-key"], state, identity)
              return yield* respond(generation, state, { status: replayed ? 200 : 201, isReplay: replayed })
            },
            Effect.catchReasons("GenerationError", createRefusals, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "get",
          Effect.fnUntraced(
            function*({ params: { id }, query: { wait = 0 } }) {
              const { account, key } = yield* CurrentKey
              const generation = wait === 0
                ? yield* generations.get(account, id)
                : yield* awaitFinal(account, key, id, Math.min(wait, waitSecondsMax))
              return yield* respond(generation, yield* currentRequest)
            },
            Effect.catchReasons("GenerationError", { NotFound: Refusals.NotFound }, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "cancel",
          Effect.fnUntraced(
            function*({ params: { id } }) {
              const { account } = yield* CurrentKey
              return yield* respond(yield* generations.cancel(account, id), yield* currentRequest)
            },
            Effect.catchReasons(
              "GenerationError",
              { NotFound: Refusals.NotFound, NotCancellable: Refusals.NotCancellable },
              Refusals.unexpected
            ),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** D37. */
const waitSecondsMax = 60

/** Every way in which creating is refused (D13). */
const createRefusals = {
  ModelNotFound: Refusals.ModelNotFound,
  ModelUnavailable: Refusals.ModelUnavailable,
  ModelNotInPlan: Refusals.ModelNotInPlan,
  PlanInactive: Refusals.PlanInactive,
  InvalidParams: Refusals.InvalidParams,
  QuotaExceeded: Refusals.QuotaExceeded,
  InsufficientCredits: Refusals.InsufficientCredits,
  QueueFull: Refusals.QueueFull,
  KeyReused: Refusals.KeyReused,
  KeyInProgress: Refusals.KeyInProgress
}

const identityOf = ({ identity }: RequestState): Effect.Effect<Identity> =>
  identity === undefined ? Effect.die(new Error("A handler ran without authentication")) : Effect.succeed(identity)
