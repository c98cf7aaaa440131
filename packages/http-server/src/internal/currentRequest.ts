/** What is known of the request under way, and what its response has to say. */
import type { Identity } from "@kinora/accounts/Identity"
import type { RateLimit } from "@kinora/rate-limit"
import { Context, Effect, Option, type Random } from "effect"
import { HttpServerRequest } from "effect/http"
import * as ClientAddress from "../ClientAddress.ts"

/** One per request. Written while the request goes its way, read when the response leaves. */
export class RequestState {
  readonly request: HttpServerRequest.HttpServerRequest
  /** `X-Request-Id` (D30). */
  readonly id: string
  /**
   * The limit that the response describes (D26): a verdict once it was asked, before
   * that only what to ask.
   */
  limit: RateLimit.Verdict | RateLimit.Hit | undefined
  /** Whose key it carries, once that is proven. */
  identity: Identity | undefined
  /** Whether the answer waits for a job, whose time it takes. */
  isWaiting: boolean

  constructor(request: HttpServerRequest.HttpServerRequest, id: string) {
    this.request = request
    this.id = id
    this.limit = undefined
    this.identity = undefined
    this.isWaiting = false
  }

  /** What failed authentications of this client count under (D28). */
  get clientGroup(): string {
    return ClientAddress.group(this.request.remoteAddress)
  }

  /** The origin that the request came to (D26a). */
  get origin(): string {
    return Option.match(HttpServerRequest.toURL(this.request), {
      onNone: () => "http://localhost",
      onSome: ({ origin }) => origin
    })
  }
}

/** The state of the calling fiber's request. */
export const CurrentRequest = Context.Reference<RequestState | undefined>("@kinora/http-server/CurrentRequest", {
  defaultValue: () => undefined
})

/** See `CurrentRequest`. That there is none is a bug: the edge provides it to all routes. */
export const currentRequest: Effect.Effect<RequestState> = Effect.withFiber((fiber) => {
  const state = fiber.getRef(CurrentRequest)
  return state === undefined ? Effect.die(new Error("A handler ran outside of the edge")) : Effect.succeed(state)
})

/** Who is authenticated. That nobody is is a bug: `BearerAuth` stands before every handler that asks. */
export const currentIdentity: Effect.Effect<Identity> = Effect.flatMap(
  currentRequest,
  ({ identity }) =>
    identity === undefined ? Effect.die(new Error("A handler ran without authentication")) : Effect.succeed(identity)
)

/** The caller's id of the request, if it is one (D30), or a new one. */
export const requestId = (given: string | undefined, random: typeof Random.Random["Service"]): string => {
  if (given !== undefined && givenPattern.test(given)) return given
  let id = "req_"
  for (let word = 0; word < 4; word++) {
    id += Math.floor(random.nextDoubleUnsafe() * 2 ** 32).toString(16).padStart(8, "0")
  }
  return id
}

const givenPattern = /^[\x20-\x7e]{1,128}$/
