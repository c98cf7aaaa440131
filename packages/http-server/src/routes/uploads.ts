/** `POST /v1/uploads` and `DELETE /v1/uploads/{id}`. See docs/reference/http-api.md#uploads. */
import { type Upload, Uploads } from "@kinora/generations/Uploads"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { refuse } from "@kinora/http-api/ApiError"
import type * as Wire from "@kinora/http-api/Upload"
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest, untimed } from "../middleware/currentRequest.ts"
import { answers } from "../middleware/refusals.ts"
import { Share } from "../middleware/share.ts"
import * as UploadBody from "../wire/uploadBody.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(Api, "uploads", function*(handlers) {
    const uploads = yield* Uploads
    const work = new Share(options.uploadsMax, 4, options.crowdedWait)

    const create = Effect.fnUntraced(function*(account: string, { bytes, declared }: UploadBody.Sent) {
      const turn = work.holding(account)
      const inTurn = Effect.gen(function*() {
        return (yield* turn.take(1)) ? yield* uploads.create(account, bytes, declared) : yield* busy
      })
      return yield* Effect.ensuring(inTurn, Effect.sync(turn.giveBack))
    })

    return handlers
      .handleRaw(
        "create",
        answers(
          ["InvalidImage", "ImageTimedOut", "InputPixelsExceeded", "TooManyUploads", "TooManyUploadBytes"],
          function*({ request }) {
            const { account } = yield* CurrentKey
            const { body } = yield* currentRequest
            // The client sends the image, and several images may wait for the decoder.
            const upload = yield* untimed(
              Effect.flatMap(body.read(UploadBody.read(request, options, body)), (sent) => create(account, sent))
            )
            return HttpServerResponse.jsonUnsafe(toWire(upload), { status: 201 })
          }
        )
      )
      .handle(
        "delete",
        answers(["UploadNotFound"], function*({ params: { id } }) {
          const { account } = yield* CurrentKey
          yield* uploads.remove(account, id)
        })
      )
  })

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

const busy = refuse("unavailable", { message: "The service is reading too many uploads; retry shortly." })
