/** `POST /v1/images/generations`: creates a job and waits for its image (D20). */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model } from "@kinora/catalog/Model"
import type { Generation } from "@kinora/generations/Generation"
import { isFinal } from "@kinora/generations/Generation"
import { ModelNotFound } from "@kinora/generations/GenerationError"
import { Generations } from "@kinora/generations/Generations"
import { Api } from "@kinora/http-api/Api"
import { bodyOf, GatewayTimeout, UnprocessableContent } from "@kinora/http-api/ApiError"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Blobs from "./blobs.ts"
import * as Creating from "./creating.ts"
import { currentRequest } from "./currentRequest.ts"
import { linksOf, linkTo } from "./generationView.ts"
import * as ImageBody from "./imageBody.ts"
import * as ImageRequest from "./imageRequest.ts"
import * as Refusals from "./refusals.ts"
import * as Waiting from "./waiting.ts"

/** The handler. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "images",
    Effect.fnUntraced(function*(handlers) {
      const blobs = yield* BlobStore.BlobStore
      const catalog = yield* Catalog
      const creating = yield* Creating.make(options)
      const generations = yield* Generations
      const places = yield* Waiting.make(options)
      const signer = yield* UrlSigner.UrlSigner

      const create = Effect.fnUntraced(function*(asked: ImageRequest.Asked, key: string | undefined) {
        if (asked.plan !== undefined) yield* creating.describe(asked.plan)
        return yield* creating.create(
          { endpoint: "images", key, body: asked.body },
          Effect.gen(function*() {
            const model = catalog.find(asked.model)
            return Option.isNone(model) || model.value.status === "withdrawn"
              ? yield* Refusals.ModelNotFound(new ModelNotFound({ model: asked.model }))
              : yield* Effect.fromResult(ImageRequest.resolve(asked, model.value))
          })
        )
      })

      /**
       * The job once it is final, while the key has a place left among those who wait
       * for an image or are sent one. Otherwise the client asks again, and each time the
       * window in which its request is known starts anew.
       */
      const awaitFinal = Effect.fnUntraced(function*({ generation: { account, id }, request }: Creating.Answered) {
        const mayWait = yield* places.image
        if (mayWait) {
          const generation = yield* generations.wait(account, id, options.imageWait)
          if (isFinal(generation.status)) return generation
        }
        yield* generations.extend(account, request, id)
        return yield* pending(id)
      })

      const respond = Effect.fnUntraced(function*(generation: Generation, format: Model["response_format"]) {
        const { account, createdAt, id, resultExpiresAt } = generation
        const { file } = yield* generations.file(id, "content", account)
        const created = Math.floor(createdAt.epochMilliseconds / 1000)
        if (format === "url" && resultExpiresAt !== null) {
          const links = linksOf(signer, yield* currentRequest, options)
          return ImageBody.ofUrl(created, linkTo(id, "content", resultExpiresAt, links))
        }
        const image = yield* Blobs.open(blobs, file.key, { start: 0, end: file.bytes - 1 })
        return ImageBody.ofBytes(created, image, file.bytes)
      })

      return handlers.handle(
        "generate",
        Effect.fnUntraced(
          function*({ headers, payload }) {
            const asked = yield* Effect.fromResult(ImageRequest.check(payload, headers["x-plan"]))
            const answered = yield* create(asked, headers["idempotency-key"])
            const generation = yield* awaitFinal(answered)
            if (generation.status !== "completed") return yield* failed(generation)
            const usual = Option.map(catalog.find(asked.model), ({ response_format }) => response_format)
            return yield* respond(generation, asked.format ?? Option.getOrElse(usual, () => "url" as const))
          },
          Effect.catchReasons(
            "GenerationError",
            { ...Creating.refusals, InvalidParams: Refusals.InvalidFields, ResultExpired: Refusals.ResultExpired },
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

/** The retry finds the same job, so it can come soon (D20). */
const pendingMillis = 1000

const pending = (id: string) =>
  Effect.fail(
    new GatewayTimeout({
      error: bodyOf("generation_pending", { details: { generation_id: id } }),
      retry: { afterMillis: pendingMillis }
    })
  )

/** Why there is no image: the job failed, or was cancelled meanwhile. */
const failed = ({ failure, id, plan }: Generation) => {
  const details = { generation_id: id, reason: failure === null ? "cancelled" : failure.reason }
  const message = failure === null ? "The job was cancelled and refunded." : failure.message
  const code = failure?.code === "content_rejected" ? "content_rejected" : "generation_failed"
  return Effect.fail(new UnprocessableContent({ error: bodyOf(code, { plan, message, details }) }))
}
