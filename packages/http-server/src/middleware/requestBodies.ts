/** Limits of request bodies: size and time of each, the memory of all, and how much structure JSON has. */
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import * as Turns from "@kinora/media/Turns"
import { ByteSize, Duration, Effect, Stream } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { closing, errorResponse } from "../wire/errorResponse.ts"
import * as JsonStructure from "../wire/jsonStructure.ts"
import * as JsonValue from "../wire/jsonValue.ts"
import { mediaType } from "../wire/mediaType.ts"
import * as Pieces from "../wire/pieces.ts"
import { multipartOverheadMax } from "../wire/uploadBody.ts"
import * as BodyIntake from "./bodyIntake.ts"
import { currentRequest, type RequestState, untimed } from "./currentRequest.ts"
import { Share } from "./share.ts"
import * as Transfers from "./transfers.ts"

type App<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Makes the limiter around the handlers of POST requests. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const memory = new Share(options.bodiesBytesMax, 4, options.crowdedWait)
  const transfers = yield* Transfers.make
  // The pieces of several bodies would delay other requests by their sum.
  const inTurn = Turns.make({ max: 1 })

  /** The time of a large body does not count: it waits for others, and other requests run between its pieces. */
  const parse = (chunks: Array<Uint8Array>, owner: string) => {
    const parsed = parseJson(chunks, options)
    return Pieces.lengthOf(chunks) > Pieces.pieceMax ? untimed(inTurn(owner)(parsed)) : parsed
  }

  /** Runs the handler while the bytes of the body that have arrived count as held, JSON bodies after they are parsed. */
  const guard = <E, R>(
    app: App<E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    { bytesMax, isJson, timeMax }: Limit
  ) =>
    Effect.flatMap(currentRequest, (state) => {
      const held = memory.holding(owner)
      const { bodyStallMax: stallMax, transferRateMin: rateMin } = options
      state.body = BodyIntake.make({
        memory: held,
        transfer: new Transfers.Transfer({ rateMin, stallMax, timeMax }),
        transfers,
        pace: isSmall(request) ? undefined : (bytes) => state.budget.pace(owner, bytes),
        onTooSlow: () => {
          state.rejection = tooSlow
        }
      })
      const read = Effect.matchEffect(readJson(request, state.body, bytesMax), {
        onFailure: (problem) => Effect.succeed(rejections[problem](bytesMax)),
        onSuccess: (chunks) =>
          Effect.flatMap(parse(chunks, owner), (json) => {
            if (json === "TooComplex") return Effect.succeed(tooComplex(options))
            if (json === "LongString") return Effect.succeed(stringTooLong(options))
            state.json = json
            return app
          })
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

/**
 * Limits the body of an endpoint of operators or of the console. If the endpoint reads one, the handler runs after it has
 * arrived. `owner`: the account or the operator, or `undefined` without authentication.
 */
export const limitSmall = <E, R>(
  app: App<E, R>,
  state: RequestState,
  { bodyBytesMax, endpoint, owner }: {
    readonly bodyBytesMax: number
    readonly endpoint: HttpApiEndpoint.Top
    readonly owner: string | undefined
  }
): App<E, R> =>
  // The framework reads no other media type.
  RequestPolicy.of(endpoint).body === "json" && isJsonRequest(state.request)
    ? received(app, state, { bytesMax: bodyBytesMax, owner })
    : Effect.provideService(app, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bodyBytesMax))

/** Runs the handler of a request after its body has arrived, so that the handler reads it without waiting. See `limitSmall`. */
export const received = <E, R>(
  app: App<E, R>,
  state: RequestState,
  { bytesMax, owner }: { readonly bytesMax: number; readonly owner: string | undefined }
): App<E, R> => {
  const { request } = state
  const bytes = declaredLength(request) ?? bytesMax
  if (bytes > bytesMax) return Effect.succeed(tooLarge(bytesMax))
  const receive = Effect.orDie(state.smallBodies.receive(request, {
    owner: owner ?? state.clientSite,
    isAuthenticated: owner !== undefined,
    bytes,
    onTooSlow: () => {
      state.rejection = tooSlow
    }
  }))
  return Effect.flatMap(
    state.budget.paused(receive),
    (isReceived) => isReceived ? app : Effect.succeed(crowded)
  ).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytesMax)))
}

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
 * than the rest of a small request. The number of connections limits what they hold before.
 */
const smallBodyMax = 16 * 1024

/** Reads a body within its limits. Fails with the one that it exceeds. */
const readJson = (request: HttpServerRequest.HttpServerRequest, intake: BodyIntake.BodyIntake, bytesMax: number) =>
  untimed(isSmall(request) ? readSmall(request, intake) : readChunks(request, intake, bytesMax))

const isSmall = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const length = declaredLength(request)
  return length !== undefined && length <= smallBodyMax
}

const readSmall = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, intake: BodyIntake.BodyIntake) {
    const body = new Uint8Array(yield* intake.read(Effect.orDie(BodyIntake.readWhole(request))))
    return (yield* intake.take(body.length)) ? [body] : yield* Effect.fail("Crowded" as const)
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
  return Effect.as(intake.read(read), chunks)
}

/** Parses a body in pieces, or returns why it cannot be parsed. */
const parseJson = Effect.fnUntraced(
  function*(chunks: Array<Uint8Array>, { bodyStringBytesMax, bodyStructureMax }: HttpServerOptions) {
    const text = yield* Pieces.concat(chunks)
    const limits = { weightMax: bodyStructureMax, stringBytesMax: bodyStringBytesMax }
    const longStrings = yield* JsonStructure.measure(text, limits)
    return { value: yield* JsonValue.parse(text, longStrings) }
  },
  Effect.catch((problem) => Effect.succeed(problem))
)

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
    `${JsonStructure.stringWeightMax} per string that is not a property name, and at most ${JsonStructure.depthMax} levels of nesting`
  return errorResponse("invalid_request", { details: { issues: [{ path: "", message }] } })
}

const stringTooLong = ({ bodyStringBytesMax }: HttpServerOptions) =>
  errorResponse("payload_too_large", {
    message: `A string in the request body must have at most ${bodyStringBytesMax} bytes.`
  })

const tooSlow = errorResponse("request_timeout")

const rejections = { Crowded: () => crowded, TooLarge: tooLarge }

const crowded = closing(errorResponse("unavailable", {
  message: "The service is reading too many request bodies; retry shortly."
}))
