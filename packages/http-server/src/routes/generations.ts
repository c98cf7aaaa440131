/** The endpoints of jobs. See docs/reference/http-api.md#the-job-object. */
import { type Generation, GenerationId } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { CurrentKey } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { CreateRequest, type GenerationList } from "@kinora/http-api/Generation"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Creation from "../middleware/creation.ts"
import { currentRequest, untimed } from "../middleware/currentRequest.ts"
import * as JsonPayload from "../middleware/jsonPayload.ts"
import { answers, invalidParameter } from "../middleware/refusals.ts"
import * as SessionEnds from "../middleware/sessionEnds.ts"
import * as WaitingPlaces from "../middleware/waitingPlaces.ts"
import * as EventStream from "../wire/eventStream.ts"
import { type Links, linksOf, pathOf, toWire } from "../wire/generation.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(Api, "generations", function*(handlers) {
    const generations = yield* Generations
    const create = yield* makeCreate(options)
    const places = yield* WaitingPlaces.make(options)
    const endOf = yield* SessionEnds.makeAwaitEnd(options)
    const get = yield* makeGet(options)
    const getFinal = yield* makeGetFinal(options)
    const { links, respond, respondWithPage } = yield* makeRespond(options)

    return handlers.handleRaw("create", ({ headers }) => create(headers["idempotency-key"])).handleAll({
      list: answers([], function*({ query: { cursor, from, limit = pageSizeDefault, q, to, ...selection } }) {
        const { account } = yield* CurrentKey
        // The cursor is the id of the last job of a page, which clients do not rely on.
        const before = cursor === undefined ? undefined : GenerationId.parse(cursor)
        if (cursor !== undefined && before === undefined) return yield* invalidCursor
        const criteria = { ...selection, text: q, createdAfter: from, createdBefore: to, before, limit }
        const { generations: page, next } = yield* generations.list(account, criteria)
        return yield* respondWithPage(page, next)
      }),

      get: ({ params: { id }, query: { wait = 0 } }) => wait === 0 ? get(id) : getFinal(id, wait),

      events: answers(["NotFound"], function*({ params: { id } }) {
        const { account } = yield* CurrentKey
        // Read before the status line is sent, because afterwards the request cannot be rejected.
        const first = yield* generations.get(account, id)
        if (yield* hasSeen(first)) return HttpServerResponse.empty({ status: 204 })
        const mayFollow = yield* places.longPoll
        const later = mayFollow ? generations.changes(account, id) : Stream.empty
        return EventStream.response(
          Stream.concat(
            Stream.succeed(first),
            Stream.dropWhile(later, ({ status }) => status === first.status)
          ).pipe(Stream.interruptWhen(yield* endOf(account))),
          toEvent(yield* links),
          options.eventsHeartbeat,
          mayFollow || first.finishedAt !== null
        )
      }),

      cancel: answers(["NotFound", "NotCancellable"], function*({ params: { id } }) {
        const { account } = yield* CurrentKey
        return yield* respond(yield* generations.cancel(account, id))
      })
    })
  })

/** Makes the handler that creates a job, or returns that of an earlier request, for an `Idempotency-Key`. */
export const makeCreate = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const creation = yield* Creation.make(options)
  const { links, respond } = yield* makeRespond(options)

  return answers(Creation.creationRefusals, function*(key: string | undefined) {
    const payload = yield* createPayload
    yield* creation.describe(payload.plan)
    const asked = { endpoint: "generations", key, body: payload } as const
    const { generation, replayed } = yield* creation.create(asked, Effect.succeed(payload))
    const { baseUrl } = yield* links
    return HttpServerResponse.setHeaders(
      HttpServerResponse.setStatus(yield* respond(generation), replayed ? 200 : 201),
      { "location": `${baseUrl}${pathOf(generation.id)}`, "idempotent-replayed": String(replayed) }
    )
  })
})

/** Makes the handler that returns the current state of a job. */
export const makeGet = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const { respond } = yield* makeRespond(options)

  return answers(["NotFound"], function*(id: string) {
    const { account } = yield* CurrentKey
    return yield* respond(yield* generations.get(account, id))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const createPayload = JsonPayload.make(CreateRequest, Api.groups.generations.endpoints.create)

const waitSecondsMax = 60
const pageSizeDefault = 20

/**
 * Makes the handler that waits until the job has ended, if the key has a place left, or until the account is suspended or
 * the session of the request has ended.
 */
const makeGetFinal = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const places = yield* WaitingPlaces.make(options)
  const endOf = yield* SessionEnds.makeAwaitEnd(options)
  const { respond } = yield* makeRespond(options)

  const awaitFinal = (account: string, id: string, wait: number) =>
    Effect.scoped(Effect.flatMap(places.longPoll, (mayWait) =>
      mayWait
        ? untimed(Effect.raceFirst(
          generations.wait(account, id, `${Math.min(wait, waitSecondsMax)} seconds`),
          Effect.andThen(Effect.flatten(endOf(account)), generations.get(account, id))
        ))
        : generations.get(account, id)))

  return answers(["NotFound"], function*(id: string, wait: number) {
    const { account } = yield* CurrentKey
    return yield* respond(yield* awaitFinal(account, id, wait))
  })
})

/** Converts a state to an event. A job enters each state once, so the state is the id. */
const toEvent = (links: Links) => (generation: Generation) =>
  Effect.map(DateTime.now, (at) => ({ id: generation.status, job: toWire(generation, at, links) }))

/**
 * Whether the client of an event stream already has the final state. An `EventSource`
 * connects again after the end of a stream, unless the response is 204.
 */
const hasSeen = ({ finishedAt, status }: Generation) =>
  Effect.map(currentRequest, ({ request }) => finishedAt !== null && request.headers["last-event-id"] === status)

const makeRespond = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const signer = yield* UrlSigner.UrlSigner
  const links = Effect.map(currentRequest, (state) => linksOf(signer, state, options))
  const respond = Effect.fnUntraced(function*(generation: Generation) {
    return HttpServerResponse.jsonUnsafe(toWire(generation, yield* DateTime.now, yield* links))
  })
  const respondWithPage = Effect.fnUntraced(function*(page: ReadonlyArray<Generation>, next: string | null) {
    const now = yield* DateTime.now
    const links_ = yield* links
    const body: typeof GenerationList.Encoded = {
      data: page.map((generation) => toWire(generation, now, links_)),
      next_cursor: next
    }
    return HttpServerResponse.jsonUnsafe(body)
  })
  return { links, respond, respondWithPage }
})

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")
