/** Limits of request bodies: size and time of each, the memory of all, and how much structure JSON has. */
import { ApiError } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { Bytes, ByteSize, Duration, Effect, Stream } from "effect"
import { HttpIncomingMessage, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { closing, errorResponse, responseTo } from "../wire/errorResponse.ts"
import * as JsonStructure from "../wire/jsonStructure.ts"
import { mediaType } from "../wire/mediaType.ts"
import { multipartOverheadMax } from "../wire/uploadBody.ts"
import * as BodyIntake from "./bodyIntake.ts"
import { currentRequest, untimed } from "./currentRequest.ts"
import { Share } from "./share.ts"
import * as Transfers from "./transfers.ts"

type App<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Makes the limiter around the handlers of POST requests. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const memory = new Share(options.bodiesBytesMax, 4, options.crowdedWait)
  const { tooSlow } = yield* Transfers.make

  /** Runs the handler while the bytes of the body that have arrived count as held, JSON bodies after they are weighed. */
  const guard = <E, R>(
    app: App<E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    { bytesMax, isJson, timeMax }: Limit
  ) =>
    Effect.flatMap(currentRequest, (state) => {
      const held = memory.holding(owner)
      const { bodyStallMax: stallMax, transferRateMin: rateMin } = options
      state.body = BodyIntake.make(held, new Transfers.Transfer({ rateMin, stallMax, timeMax }), tooSlow)
      const read = Effect.flatMap(untimed(readJson(request, state.body, bytesMax)), (body) => {
        if (body === "TooLarge") return Effect.succeed(tooLarge(bytesMax))
        if (body === "Crowded") return Effect.succeed(crowded)
        if (body instanceof ApiError) return Effect.succeed(responseTo(body))
        if (JsonStructure.isExcessive(body, options.bodyStructureMax)) return Effect.succeed(tooComplex(options))
        return Effect.provideService(app, HttpServerRequest.HttpServerRequest, withBody(request, body))
      })
      return Effect.ensuring(isJson && isJsonRequest(request) ? read : app, Effect.sync(held.giveBack))
    })

  /** Rejects a body whose declared length is too large before reading it, and any other while reading it. */
  return <E, R>(
    app: App<E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    endpoint: HttpApiEndpoint.Top
  ): App<E, R> => {
    if (request.method !== "POST") return app
    const limit = limitOf(RequestPolicy.of(endpoint), options)
    return (declaredLength(request) ?? 0) > limit.bytesMax
      ? Effect.succeed(tooLarge(limit.bytesMax))
      : Effect.provideService(
        limit.isHeld ? guard(app, request, owner, limit) : app,
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(limit.bytesMax)
      )
  }
})

/** Returns the length of the body by its header, or `undefined` without a valid one. */
export const declaredLength = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Bodies up to this declared length count as held when they have arrived, so that they need no stream, which costs more
 * than the rest of a small request. The number of requests limits what they hold before.
 */
const smallBodyMax = 16 * 1024

/** Reads a body within its limits, or returns the one that it exceeds. */
const readJson = (request: HttpServerRequest.HttpServerRequest, intake: BodyIntake.BodyIntake, bytesMax: number) => {
  const length = declaredLength(request)
  const read = length !== undefined && length <= smallBodyMax
    ? readSmall(request, intake)
    : readChunks(request, intake, bytesMax)
  return Effect.catch(read, (problem) => Effect.succeed(problem))
}

const readSmall = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, intake: BodyIntake.BodyIntake) {
    const body = new Uint8Array(yield* intake.read(Effect.orDie(request.arrayBuffer)))
    return (yield* intake.take(body.length)) ? body : yield* Effect.fail("Crowded" as const)
  }
)

/** Reads a body whose bytes count as they arrive. Stops reading when they exceed a limit. */
const readChunks = (request: HttpServerRequest.HttpServerRequest, intake: BodyIntake.BodyIntake, bytesMax: number) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const read = Stream.runForEach(Stream.orDie(request.stream), (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    if (length > bytesMax) return Effect.fail("TooLarge" as const)
    return Effect.flatMap(
      intake.take(chunk.length),
      (isTaken) => isTaken ? Effect.void : Effect.fail("Crowded" as const)
    )
  })
  return Effect.map(intake.read(read), () => Bytes.concat(chunks))
}

/** The same request with a body that has been read. */
const withBody = (
  request: HttpServerRequest.HttpServerRequest,
  body: Uint8Array
): HttpServerRequest.HttpServerRequest =>
  Object.create(request, { text: { value: Effect.sync(() => new TextDecoder().decode(body)) } })

interface Limit {
  readonly bytesMax: number
  /** Whether the body is large enough to count against the memory for bodies. */
  readonly isHeld: boolean
  /** Whether the body is read and weighed as JSON. Otherwise the handler reads it. */
  readonly isJson: boolean
  /** The time in which the body has to arrive. */
  readonly timeMax: Duration.Duration
}

const limitOf = ({ body }: RequestPolicy.Policy, options: HttpServerOptions): Limit => {
  switch (body) {
    case "creation":
      return { bytesMax: options.creatingBodyBytesMax, isHeld: true, isJson: true, timeMax: options.bodyTimeMax }
    case "image":
      return {
        bytesMax: options.uploadBytesMax + multipartOverheadMax,
        isHeld: true,
        isJson: false,
        timeMax: Duration.infinity
      }
    case "json":
    case "none":
      return { bytesMax: options.bodyBytesMax, isHeld: false, isJson: false, timeMax: Duration.infinity }
  }
}

/** Whether the framework parses the body as JSON, as it does without a `Content-Type`. */
const isJsonRequest = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  mediaType(headers["content-type"] ?? "application/json") === "application/json"

const tooLarge = (bytesMax: number) =>
  closing(errorResponse("payload_too_large", { message: `The request body must have at most ${bytesMax} bytes.` }))

const tooComplex = ({ bodyStructureMax }: HttpServerOptions) => {
  const message = `must have at most ${bodyStructureMax} bytes, not counting more than ` +
    `${JsonStructure.stringWeightMax} per string, and at most ${JsonStructure.depthMax} levels of nesting`
  return errorResponse("invalid_request", { details: { issues: [{ path: "", message }] } })
}

const crowded = closing(errorResponse("unavailable", {
  message: "The service is reading too many large request bodies; retry shortly."
}))
