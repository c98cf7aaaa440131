/** `POST /v1/uploads` and `DELETE /v1/uploads/{id}` (D19). */
import { type Upload, Uploads } from "@kinora/generations/Uploads"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { bodyOf, ServiceUnavailable } from "@kinora/http-api/ApiError"
import type * as Wire from "@kinora/http-api/Upload"
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Refusals from "./refusals.ts"
import { Share } from "./share.ts"
import * as UploadBody from "./uploadBody.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "uploads",
    Effect.fnUntraced(function*(handlers) {
      const uploads = yield* Uploads
      const work = new Share(options.uploadsMax, 2)

      const keep = (account: string, { bytes, declared }: UploadBody.Sent) =>
        Effect.acquireUseRelease(
          Effect.sync(() => work.take(account, 1)),
          Effect.fnUntraced(function*(isTaken) {
            return isTaken ? yield* uploads.create(account, bytes, declared) : yield* busy
          }),
          (isTaken) => Effect.sync(() => isTaken ? work.giveBack(account, 1) : undefined)
        )

      return handlers
        .handleRaw(
          "create",
          Effect.fnUntraced(
            function*({ request }) {
              const { account } = yield* CurrentKey
              const upload = yield* keep(account, yield* UploadBody.read(request, options))
              return HttpServerResponse.jsonUnsafe(toWire(upload), { status: 201 })
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
