/** `POST /v1/uploads` and `DELETE /v1/uploads/{id}` (D19). */
import { type Upload, Uploads } from "@kinora/generations/Uploads"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { bodyOf, ServiceUnavailable } from "@kinora/http-api/ApiError"
import type * as Wire from "@kinora/http-api/Upload"
import { DateTime, Effect, Option, Semaphore } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Refusals from "./refusals.ts"
import * as UploadBody from "./uploadBody.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "uploads",
    Effect.fnUntraced(function*(handlers) {
      const uploads = yield* Uploads
      const work = yield* Semaphore.make(options.uploadsMax)

      return handlers
        .handleRaw(
          "create",
          Effect.fnUntraced(
            function*({ request }) {
              const { account } = yield* CurrentKey
              const { bytes, declared } = yield* UploadBody.read(request, options)
              const upload = yield* work.withPermitsIfAvailable(1)(uploads.create(account, bytes, declared))
              if (Option.isNone(upload)) return yield* busy
              return HttpServerResponse.jsonUnsafe(toWire(upload.value), { status: 201 })
            },
            Effect.catchReasons(
              "UploadError",
              { InvalidImage: Refusals.InvalidUpload, TooManyUploads: Refusals.TooManyUploads },
              Refusals.unexpected
            ),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "delete",
          Effect.fnUntraced(
            function*({ params: { id } }) {
              const { account } = yield* CurrentKey
              yield* uploads.remove(account, id)
            },
            Effect.catchReasons("UploadError", { UploadNotFound: Refusals.UploadNotFound }, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toWire = ({ bytes, expiresAt, height, id, mime, width }: Upload): typeof Wire.Upload.Encoded => ({
  id,
  mime,
  bytes,
  width,
  height,
  expires_at: DateTime.formatIso(expiresAt)
})

const busy = Effect.fail(
  new ServiceUnavailable({
    error: bodyOf("unavailable", { message: "The service reads as many images as it can; try again shortly." }),
    retry: { afterMillis: 1000 }
  })
)
