/** `fetch` without a network. */
import { Http } from "@kinora/hosting"
import { Clock, Effect, type Scope } from "effect"
import { HttpEffect, HttpRouter, type HttpServerRequest } from "effect/http"
import type { Fetch } from "../Controls.ts"

/** Makes functions that send requests with an account's key, until the scope closes. */
export const make = Effect.fnUntraced(
  function*(baseUrl: string, options: Http.InterfaceOptions) {
    const app = yield* HttpRouter.toHttpEffect(Http.layerRoutes(options))
    const handle = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(
      yield* Effect.context()
    )(app)
    const stopped = new AbortController()
    const underWay = new Set<Promise<Response>>()

    const send = async (request: Request): Promise<Response> => {
      const answer = whileGoing(request.signal, handle(request))
      underWay.add(answer)
      try {
        return await answer
      } finally {
        underWay.delete(answer)
      }
    }

    yield* Effect.addFinalizer(() =>
      Effect.promise(() => Promise.allSettled(underWay)).pipe(
        Effect.timeoutOption(answeredWithin),
        // Virtual time stands still while the host stops.
        Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
        Effect.andThen(Effect.sync(() => stopped.abort(new Error("The test host has stopped"))))
      )
    )

    return (apiKey: string): Fetch => async (input, init = {}) => {
      const { apiKey: key = apiKey, ...rest } = init
      const given = new Request(input instanceof Request ? input : new URL(input, baseUrl), rest)
      const sent = new Request(given, { signal: AbortSignal.any([stopped.signal, given.signal]) })
      sent.signal.throwIfAborted()
      if (key !== null && !sent.headers.has("authorization")) sent.headers.set("authorization", `Bearer ${key}`)
      // Headers that a network client adds. Links use the origin of the request.
      sent.headers.set("host", new URL(sent.url).host)
      const length = lengthOf(rest.body)
      if (length !== undefined) sent.headers.set("content-length", String(length))
      return send(sent)
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Time that requests have to end when the host stops. Long polls return immediately. */
const answeredWithin = "1 second"

/** Value of `content-length`: the length of the body if it is known in advance. */
const lengthOf = (body: RequestInit["body"]): number | undefined => {
  if (typeof body === "string") return new TextEncoder().encode(body).length
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength
  return body instanceof Blob ? body.size : undefined
}

/** The response, or a rejection if the caller aborts first. */
const whileGoing = (signal: AbortSignal, answer: Promise<Response>): Promise<Response> =>
  new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener("abort", leave, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave))
  })
