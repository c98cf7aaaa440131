/** The settings and the storage of this server in the operator API. */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { answers } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = ({ configuration, disk }: HttpServerOptions) =>
  EndpointGroup.of(AdminApi, "system", (handlers) =>
    handlers.handleAll({
      getConfiguration: answers([], function*() {
        return yield* Effect.succeed({ data: configuration })
      }),

      getStorage: answers([], function*() {
        const space = yield* disk
        return { disk: space === undefined ? null : { free_bytes: space.freeBytes, total_bytes: space.totalBytes } }
      })
    }))
