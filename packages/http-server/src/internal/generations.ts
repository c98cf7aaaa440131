/** Creating, listing, reading, following and cancelling jobs over HTTP. */
import { type Generation, GenerationId } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { BadRequest, bodyOf } from "@kinora/http-api/ApiError"
import type { GenerationList } from "@kinora/http-api/Generation"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Creating from "./creating.ts"
import { currentRequest } from "./currentRequest.ts"
import * as Events from "./events.ts"
import { linksOf, pathOf, toWire } from "./generationView.ts"
import * as Refusals from "./refusals.ts"
import * as Waiting from "./waiting.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "generations",
    Effect.fnUntraced(function*(handlers) {
      const generations = yield* Generations
      const signer = yield* UrlSigner.UrlSigner
      const creating = yield* Creating.make(options)
      const places = yield* Waiting.make(options)

      const links = Effect.map(currentRequest, (state) => linksOf(signer, state, options))

      const respond = Effect.fnUntraced(function*(generation: Generation) {
        return HttpServerResponse.jsonUnsafe(toWire(generation, yield* DateTime.now, yield* links))
      })

      const respondTo = Effect.fnUntraced(function*({ generation, replayed }: Creating.Answered) {
        const { baseUrl } = yield* links
        return HttpServerResponse.setHeaders(
          HttpServerResponse.setStatus(yield* respond(generation), replayed ? 200 : 201),
          { "location": `${baseUrl}${pathOf(generation.id)}`, "idempotent-replayed": String(replayed) }
        )
      })

      /** The job once it is final, if the key has a place left among those who wait (D37). */
      const awaitFinal = Effect.fnUntraced(function*(account: string, id: string, seconds: number) {
        const mayWait = yield* places.longPoll
        return yield* mayWait ? generations.wait(account, id, `${seconds} seconds`) : generations.get(account, id)
      }, Effect.scoped)

      return handlers
        .handle(
          "create",
          Effect.fnUntraced(
            function*({ headers, payload }) {
              yield* creating.describe(payload.plan)
              const asked = { endpoint: "generations", key: headers["idempotency-key"], body: payload } as const
              return yield* respondTo(yield* creating.create(asked, Effect.succeed(payload)))
            },
            Effect.catchReasons("GenerationError", Creating.refusals, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "list",
          Effect.fnUntraced(
            function*({ query: { cursor, limit = pageSizeDefault, ...selection } }) {
              const { account } = yield* CurrentKey
              const before = cursor === undefined ? undefined : GenerationId.parse(cursor)
              if (cursor !== undefined && before === undefined) return yield* invalidCursor
              const { generations: page, next } = yield* generations.list(account, { ...selection, limit, before })
              const now = yield* DateTime.now
              const links_ = yield* links
              const body: typeof GenerationList.Encoded = {
                data: page.map((generation) => toWire(generation, now, links_)),
                next_cursor: next
              }
              return HttpServerResponse.jsonUnsafe(body)
            },
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "get",
          Effect.fnUntraced(
            function*({ params: { id }, query: { wait = 0 } }) {
              const { account } = yield* CurrentKey
              return yield* respond(
                wait === 0
                  ? yield* generations.get(account, id)
                  : yield* awaitFinal(account, id, Math.min(wait, waitSecondsMax))
              )
            },
            Effect.catchReasons("GenerationError", { NotFound: Refusals.NotFound }, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "events",
          Effect.fnUntraced(
            function*({ params: { id } }) {
              const { account } = yield* CurrentKey
              // Looked at before the status line leaves: later there is no way left to refuse.
              const first = yield* generations.get(account, id)
              const mayFollow = yield* places.longPoll
              const later = mayFollow ? generations.changes(account, id) : Stream.empty
              const links_ = yield* links
              return Events.response(
                Stream.concat(Stream.succeed(first), Stream.dropWhile(later, ({ status }) => status === first.status)),
                (generation) => Effect.map(DateTime.now, (at) => toWire(generation, at, links_)),
                options.eventsHeartbeat
              )
            },
            Effect.catchReasons("GenerationError", { NotFound: Refusals.NotFound }, Refusals.unexpected),
            Effect.catchTag("StorageError", Refusals.unavailable)
          )
        )
        .handle(
          "cancel",
          Effect.fnUntraced(
            function*({ params: { id } }) {
              const { account } = yield* CurrentKey
              return yield* respond(yield* generations.cancel(account, id))
            },
            Effect.catchReasons(
              "GenerationError",
              { NotFound: Refusals.NotFound, NotCancellable: Refusals.NotCancellable },
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

/** D37. */
const waitSecondsMax = 60

/** Jobs of a page when the client names no number (D38). */
const pageSizeDefault = 20

/** A cursor is the id of the last job of a page, but clients need not know. */
const invalidCursor = Effect.fail(
  new BadRequest({
    error: bodyOf("invalid_params", {
      details: { issues: [{ path: "cursor", message: "must be the next_cursor of an earlier page" }] }
    })
  })
)
