/** Limits of request bodies: the size of each, the memory of all, and how much structure JSON has. */
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { closing, errorResponse } from "../wire/errorResponse.ts"
import * as JsonStructure from "../wire/jsonStructure.ts"
import { mediaType } from "../wire/mediaType.ts"
import { multipartOverheadMax } from "../wire/uploadBody.ts"
import { untimed } from "./currentRequest.ts"
import { Share } from "./share.ts"

type App<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Makes the limiter around the handlers of POST requests. */
export const make = (options: HttpServerOptions) => {
  const held = new Share(options.bodiesBytesMax, 4)

  /** Runs the handler while the bytes of the body count as held, JSON bodies after they are read and weighed. */
  const guard = <E, R>(
    app: App<E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    { bytesMax, isJson }: Limit
  ) =>
    Effect.suspend(() => {
      let bytes = declaredLength(request) ?? bytesMax
      const read = Effect.map(untimed(Effect.orDie(request.arrayBuffer)), (buffer) => {
        // Without a declared length, the maximum was held.
        held.giveBack(owner, bytes - buffer.byteLength)
        bytes = buffer.byteLength
        return JsonStructure.isExcessive(new Uint8Array(buffer), options.bodyStructureMax)
      })
      const guarded = isJson && isJsonRequest(request)
        ? Effect.flatMap(read, (isExcessive) => isExcessive ? Effect.succeed(tooComplex(options)) : app)
        : app
      return Effect.acquireUseRelease(
        Effect.sync(() => held.take(owner, bytes)),
        (isTaken) => isTaken ? guarded : Effect.succeed(crowded),
        (isTaken) => Effect.sync(() => isTaken ? held.giveBack(owner, bytes) : undefined)
      )
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
}

/** Returns the length of the body by its header, or `undefined` without a valid one. */
export const declaredLength = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Limit {
  readonly bytesMax: number
  /** Whether the body is large enough to count against the memory for bodies. */
  readonly isHeld: boolean
  /** Whether the body is read and weighed as JSON. Otherwise the handler reads it. */
  readonly isJson: boolean
}

const limitOf = ({ body }: RequestPolicy.Policy, options: HttpServerOptions): Limit => {
  switch (body) {
    case "creation":
      return { bytesMax: options.creatingBodyBytesMax, isHeld: true, isJson: true }
    case "image":
      return { bytesMax: options.uploadBytesMax + multipartOverheadMax, isHeld: true, isJson: false }
    case "json":
    case "none":
      return { bytesMax: options.bodyBytesMax, isHeld: false, isJson: false }
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
