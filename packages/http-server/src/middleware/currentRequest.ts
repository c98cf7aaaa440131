/** The request that a fiber handles. */
import type { KeyId } from "@kinora/accounts/ApiKey"
import type { Identity } from "@kinora/accounts/Identity"
import type { RateLimit } from "@kinora/rate-limit"
import * as ClientAddress from "@kinora/rate-limit/ClientAddress"
import { Context, Effect, Option, type Random } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import * as BodyIntake from "./bodyIntake.ts"
import { type RequestBudget, unlimited } from "./requestBudget.ts"
import type { SmallBodies } from "./smallBodies.ts"

/** A request and what its response reports about it. One per request. */
export class RequestState {
  readonly request: HttpServerRequest.HttpServerRequest
  /** `X-Request-Id`. */
  readonly id: string
  /** The limit that the response describes: a verdict after the limit was hit, before that the limit only. */
  limit: RateLimit.Verdict | RateLimit.Hit | undefined
  /** Whether the response waits for a job. Its duration is then not a measure of the service. */
  isWaiting: boolean
  /** The time in which it has to get its response. */
  budget: RequestBudget
  /** The response if the request is interrupted. Default: the one of a server that stops. */
  rejection: HttpServerResponse.HttpServerResponse | undefined
  /** The limits of its body, if that can be large. */
  body: BodyIntake.BodyIntake
  /** The value of its body, if a JSON body was read that can be large. */
  json: { readonly value: unknown } | "Malformed" | undefined
  /** Receives its body, if that is small. */
  readonly smallBodies: SmallBodies
  /** Ends the response while it is sent, as if the client had disconnected. */
  readonly close: () => void
  #origin: string | undefined

  constructor(
    request: HttpServerRequest.HttpServerRequest,
    id: string,
    smallBodies: SmallBodies,
    close: () => void
  ) {
    this.request = request
    this.id = id
    this.limit = undefined
    this.isWaiting = false
    this.budget = unlimited
    this.rejection = undefined
    this.body = BodyIntake.unlimited
    this.json = undefined
    this.smallBodies = smallBodies
    this.close = close
  }

  /** The group of addresses whose failed authentications count together. */
  get clientGroup(): string {
    return ClientAddress.group(Option.getOrUndefined(this.request.remoteAddress))
  }

  /** The group of addresses that have a part of the bodies together. */
  get clientSite(): string {
    return ClientAddress.site(Option.getOrUndefined(this.request.remoteAddress))
  }

  /** The origin that the client used. Computed once, since it parses a URL. */
  get origin(): string {
    return this.#origin ??= Option.match(HttpServerRequest.toURL(this.request), {
      onNone: () => "http://localhost",
      onSome: ({ origin }) => origin
    })
  }
}

/** The state of the current request. */
export const CurrentRequest = Context.Reference<RequestState | undefined>("@kinora/http-server/CurrentRequest", {
  defaultValue: () => undefined
})

/** See `CurrentRequest`. Dies outside of the edge, which provides it to all routes. */
export const currentRequest: Effect.Effect<RequestState> = required(CurrentRequest, "A handler ran outside of the edge")

/** Runs an effect whose time does not count against the request, since it may take longer by contract. */
export const untimed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(currentRequest, ({ budget }) => budget.paused(effect))

/** The account of a request, and what its API key or its session permits. */
export interface Caller extends Pick<Identity, "account" | "budgetLine" | "terms"> {
  /** `undefined` if the session was not created with a key. */
  readonly keyId: KeyId | undefined
  /** The id of the session. `undefined` if the request has a key. */
  readonly session: string | undefined
  /** Whether an operator views the account. */
  readonly isView?: boolean
}

/** The caller of the current request. */
export const CurrentIdentity = Context.Reference<Caller | undefined>("@kinora/http-server/CurrentIdentity", {
  defaultValue: () => undefined
})

/** See `CurrentIdentity`. Dies on endpoints without authentication by API key or by session of an account. */
export const currentIdentity: Effect.Effect<Caller> = required(
  CurrentIdentity,
  "A handler ran without authentication"
)

/** The caller's request id if it is 1 to 128 printable ASCII characters, otherwise a new one. */
export const requestId = (given: string | undefined, random: typeof Random.Random["Service"]): string => {
  if (given !== undefined && givenPattern.test(given)) return given
  let id = "req_"
  for (let word = 0; word < 4; word++) {
    id += Math.floor(random.nextDoubleUnsafe() * 2 ** 32).toString(16).padStart(8, "0")
  }
  return id
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const givenPattern = /^[\x20-\x7e]{1,128}$/

function required<A>(reference: Context.Reference<A | undefined>, problem: string): Effect.Effect<A> {
  return Effect.withFiber((fiber) => {
    const value = fiber.getRef(reference)
    return value === undefined ? Effect.die(new Error(problem)) : Effect.succeed(value)
  })
}
