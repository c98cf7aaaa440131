/** `POST /v1/images/generations`: creates a job and waits for its image. See docs/reference/http-api.md#image-endpoint. */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model } from "@kinora/catalog/Model"
import type { Generation } from "@kinora/generations/Generation"
import { isFinal } from "@kinora/generations/Generation"
import type { InvalidParams } from "@kinora/generations/GenerationError"
import { Generations } from "@kinora/generations/Generations"
import { Api } from "@kinora/http-api/Api"
import { refuse } from "@kinora/http-api/ApiError"
import { ImageRequest as Payload } from "@kinora/http-api/Image"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { countedStreamOf, openBlob } from "../middleware/blobs.ts"
import * as Creation from "../middleware/creation.ts"
import { currentRequest, untimed } from "../middleware/currentRequest.ts"
import * as DownloadLimits from "../middleware/downloadLimits.ts"
import * as JsonPayload from "../middleware/jsonPayload.ts"
import { answers, modelNotFound } from "../middleware/refusals.ts"
import { paced } from "../middleware/requestBudget.ts"
import * as SessionEnds from "../middleware/sessionEnds.ts"
import * as WaitingPlaces from "../middleware/waitingPlaces.ts"
import { linksOf, linkTo } from "../wire/generation.ts"
import * as ImageRequest from "../wire/imageRequest.ts"
import * as ImageResponse from "../wire/imageResponse.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handler. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(Api, "images", function*(handlers) {
    const catalog = yield* Catalog
    const create = yield* makeCreate(options)
    const awaitFinal = yield* makeAwaitFinal(options)
    const respond = yield* makeRespond(options)

    return handlers.handleRaw(
      "generate",
      answers([...Creation.creationRefusals, "ResultExpired"], function*({ headers }) {
        const payload = yield* generatePayload
        const asked = yield* Effect.fromResult(ImageRequest.check(payload, headers["x-plan"]))
        const answered = yield* create(asked, headers["idempotency-key"])
        const generation = yield* awaitFinal(answered)
        if (generation.status !== "completed") return yield* failed(generation)
        const usual = Option.map(catalog.find(asked.model), ({ response_format }) => response_format)
        const format = asked.format ?? Option.getOrElse(usual, () => "url" as const)
        return yield* respond(generation, format, !answered.replayed)
      })
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const generatePayload = JsonPayload.make(Payload, Api.groups.images.endpoints.generate)

const makeCreate = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const catalog = yield* Catalog
  const creation = yield* Creation.make(options)

  return Effect.fnUntraced(function*(asked: ImageRequest.Asked, key: string | undefined) {
    if (asked.plan !== undefined) yield* creation.describe(asked.plan)
    return yield* creation.create(
      { endpoint: "images", key, body: asked.body },
      Effect.gen(function*() {
        const model = catalog.find(asked.model)
        return Option.isNone(model) || model.value.status === "withdrawn"
          ? yield* modelNotFound(asked.model)
          : yield* Effect.fromResult(ImageRequest.resolve(asked, model.value))
      })
    )
  }, Effect.catchReason("GenerationError", "InvalidParams", invalidFields))
})

const makeAwaitFinal = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const places = yield* WaitingPlaces.make(options)
  const endOf = yield* SessionEnds.makeAwaitEnd(options)

  /**
   * Waits until the job has ended, if the key has a place left. Otherwise, and after the
   * longest wait, fails with `generation_pending` and restarts the window in which a
   * repeated request finds the job.
   */
  return Effect.fnUntraced(function*({ generation: { account, id }, request }: Creation.Answered) {
    const mayWait = yield* places.image
    if (mayWait) {
      const generation = yield* untimed(Effect.raceFirst(
        generations.wait(account, id, options.imageWait),
        Effect.andThen(Effect.flatten(endOf(account)), generations.get(account, id))
      ))
      if (isFinal(generation.status)) return generation
    }
    yield* generations.extend(account, request, id)
    return yield* refuse("generation_pending", { details: { generation_id: id } })
  })
})

const makeRespond = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const blobs = yield* BlobStore.BlobStore
  const { admitEmbedded } = yield* DownloadLimits.make(options)
  const generations = yield* Generations
  const signer = yield* UrlSigner.UrlSigner

  return Effect.fnUntraced(function*(generation: Generation, format: Model["response_format"], isFirst: boolean) {
    const { account, createdAt, id, resultExpiresAt } = generation
    const { file } = yield* generations.file(id, "content", account)
    const created = Math.floor(createdAt.epochMilliseconds / 1000)
    const state = yield* currentRequest
    if (format === "url" && resultExpiresAt !== null) {
      const links = linksOf(signer, state, options)
      return ImageResponse.ofUrl(created, linkTo(id, "content", resultExpiresAt, links))
    }
    const { count } = yield* admitEmbedded(generation, file, isFirst)
    const image = yield* openBlob(blobs, file.key, { start: 0, end: file.bytes - 1 })
    return ImageResponse.ofBytes(created, countedStreamOf(image, paced(state.budget, account, count)), file.bytes)
  })
})

/** The parameters of this endpoint are properties of the body itself. */
const invalidFields = ({ issues }: InvalidParams) =>
  refuse("invalid_params", {
    details: { issues: issues.map(({ message, path }) => ({ path: path.replace(/^params\./, ""), message })) }
  })

/** Rejects a request whose job failed or was cancelled. */
const failed = ({ failure, id, plan }: Generation) => {
  const details = { generation_id: id, reason: failure === null ? "cancelled" : failure.reason }
  const message = failure === null ? "The job was cancelled and refunded." : failure.message
  return failure?.code === "content_rejected"
    ? refuse("content_rejected", { plan, message, details })
    : refuse("generation_failed", { plan, message, details })
}
