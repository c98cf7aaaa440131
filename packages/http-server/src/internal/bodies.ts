/** What a request may send: its size, what all of them together take, and how much there is in it to parse (D18). */
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { errorResponse, retryAfterSeconds } from "./errorResponse.ts"
import * as JsonStructure from "./jsonStructure.ts"
import { Share } from "./share.ts"

/** The limits of bodies, around the handler of an endpoint that is named `group.endpoint`. */
export const make = (options: HttpServerOptions) => {
  const held = new Share(options.bodiesBytesMax, 4)
  const kinds = kindsOf(options)

  /** Runs the app on a body that is read and weighed, while its bytes count as held. */
  const guard = <E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    { bytesMax, isJson }: Kind
  ) =>
    Effect.suspend(() => {
      let bytes = declaredLength(request) ?? bytesMax
      const read = Effect.map(Effect.orDie(request.arrayBuffer), (buffer) => {
        // Without a declared length as much as may come was held.
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

  /** Refuses a body that says it is too large before reading it, and any other while reading it. */
  return <E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    name: string
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
    if (request.method !== "POST") return app
    const kind = kinds[name]
    const bytesMax = kind?.bytesMax ?? options.bodyBytesMax
    return (declaredLength(request) ?? 0) > bytesMax
      ? Effect.succeed(tooLarge(bytesMax))
      : Effect.provideService(
        kind === undefined ? app : guard(app, request, owner, kind),
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(bytesMax)
      )
  }
}

/** What stands around a file in multipart/form-data. */
export const multipartOverheadMax = 16 * 1024

/** A media type without its parameters and the space around it, told apart as the framework does. */
export const mediaType = (header: string): string => header.split(";", 1)[0]!.trim().toLowerCase()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A body that an endpoint reads. */
interface Kind {
  readonly bytesMax: number
  /** Otherwise the endpoint reads it by itself. */
  readonly isJson: boolean
}

const kindsOf = (options: HttpServerOptions): Readonly<Record<string, Kind>> => ({
  "generations.create": { bytesMax: options.creatingBodyBytesMax, isJson: true },
  "images.generate": { bytesMax: options.creatingBodyBytesMax, isJson: true },
  "uploads.create": { bytesMax: options.uploadBytesMax + multipartOverheadMax, isJson: false }
})

const declaredLength = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** Whatever the framework would parse as JSON; what says nothing is that as well. */
const isJsonRequest = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  mediaType(headers["content-type"] ?? "application/json") === "application/json"

const tooLarge = (bytesMax: number) =>
  errorResponse("payload_too_large", {
    message: `The request body may have at most ${bytesMax} bytes.`,
    headers: { connection: "close" }
  })

const tooComplex = ({ bodyStructureMax }: HttpServerOptions) => {
  const message = `must have at most ${bodyStructureMax} bytes, of which a string counts for at most ` +
    `${JsonStructure.stringWeightMax}, and be nested at most ${JsonStructure.depthMax} deep`
  return errorResponse("invalid_request", { details: { issues: [{ path: "", message }] } })
}

const crowded = errorResponse("unavailable", {
  message: "The service holds as many request bodies as it can; try again shortly.",
  headers: { ...retryAfterSeconds(1), connection: "close" }
})
