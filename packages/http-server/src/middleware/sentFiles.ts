/** Sends the bytes of files, over the connection of the request if the host permits it, and otherwise as a stream. */
import type { BlobStore } from "@kinora/storage"
import { Cause, Clock, Duration, Effect, Scope } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { type Connection, ResponseWriter } from "../ResponseWriter.ts"
import { countedStreamOf, type OpenBlob, openBlob } from "./blobs.ts"
import * as ChunkMemory from "./chunkMemory.ts"
import { currentRequest } from "./currentRequest.ts"
import * as Metrics from "./metrics.ts"
import { paced } from "./requestBudget.ts"
import { Suspensions } from "./suspensions.ts"
import * as Transfers from "./transfers.ts"

/** A part of a file to send. */
export interface SentFile {
  readonly account: string
  /** The key of its blob. */
  readonly key: string
  readonly range: BlobStore.ByteRange
  /** Counts bytes before they are sent. */
  readonly count: (bytes: number) => Effect.Effect<void>
  readonly head: {
    readonly status: 200 | 206
    readonly contentType: string
    readonly contentLength: number
    readonly headers: Readonly<Record<string, string>>
  }
}

/** Makes the function that responds with a part of a file, which is open until the scope of the request closes. */
export const make = Effect.fnUntraced(function*(
  blobs: BlobStore.BlobStore["Service"],
  { responseStallMax: stallMax, transferRateMin: rateMin }: HttpServerOptions
) {
  const connect = yield* ResponseWriter
  const makeMemory = ChunkMemory.make()
  const transfers = yield* Transfers.make
  const { isSuspended, observe } = yield* Suspensions

  return Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, file: SentFile) {
    const { account, count, head, key, range } = file
    const { budget, close, id } = yield* currentRequest
    const countAll = paced(
      budget,
      account,
      (bytes) => Effect.andThen(Metrics.countBytes(bytes), count(bytes))
    )
    const connection = head.contentLength === 0 ? undefined : connect(request)
    const memory = connection === undefined ? undefined : makeMemory()
    const open = yield* openBlob(blobs, key, range, memory)
    if (connection === undefined || memory === undefined) {
      yield* observe(account, close)
      return HttpServerResponse.stream(countedStreamOf(open, countAll), head)
    }
    const scope = yield* Effect.scope
    const onLong = Effect.andThen(
      Scope.provide(observe(account, close), scope),
      // Checks for a suspension since the request began. While the storage fails, no account counts as suspended.
      Effect.map(
        Effect.orElseSucceed(isSuspended(account), () => false),
        (suspended) => suspended ? close() : undefined
      )
    )
    const transfer = new Transfers.Transfer({ rateMin, stallMax, timeMax })
    // A mark of this response.
    const body: object = { bytes: head.contentLength }
    const sending: Sending = {
      request: id,
      connection,
      open,
      memory,
      length: head.contentLength,
      count: countAll,
      onLong,
      transfer,
      start: () => transfers.start(transfer, close),
      stop: () => transfers.stop(transfer)
    }
    yield* HttpEffect.appendPreResponseHandler((_, response) =>
      // A response that took too long was replaced by an error.
      response.body._tag === "Raw" && response.body.body === body
        ? Effect.as(sendOver(sending, response), response)
        : Effect.succeed(response)
    )
    return HttpServerResponse.raw(body, head)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** No limit of its own: the minimum rate limits the time. */
const timeMax = Duration.infinity

/** A response that is written to its connection. */
interface Sending {
  /** The id of its request, for logs. */
  readonly request: string
  readonly connection: Connection
  readonly open: OpenBlob
  /** The memory of its chunks. It is not used again if the response fails, because the system may still use it. */
  readonly memory: ChunkMemory.ChunkMemory
  readonly length: number
  readonly count: (bytes: number) => Effect.Effect<void>
  /** Runs once if the response takes long: if the buffers of the system are full, or the storage is slow. */
  readonly onLong: Effect.Effect<void>
  readonly transfer: Transfers.Transfer
  readonly start: () => void
  readonly stop: () => void
}

/** Writes the head and all bytes. Closes the connection if that fails or is interrupted. */
const sendOver = (sending: Sending, response: HttpServerResponse.HttpServerResponse): Effect.Effect<void> =>
  Effect.onError(Effect.interruptible(sendAll(sending, response)), (cause) => {
    sending.stop()
    sending.connection.abort()
    return Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.annotateLogs(Effect.logError("A file could not be sent", cause), { request_id: sending.request })
  })

const sendAll = Effect.fnUntraced(function*(sending: Sending, response: HttpServerResponse.HttpServerResponse) {
  const { connection, count, memory, onLong, open, start, stop, transfer } = sending
  const clock = yield* Clock.Clock
  const longAt = clock.monotonicTimeNanosUnsafe() + longNanos
  let left = sending.length
  let isLong = false
  connection.head(response)
  for (let chunks = open.first ?? [];; chunks = yield* Effect.orDie(open.rest)) {
    for (const chunk of chunks) {
      if (!isLong && clock.monotonicTimeNanosUnsafe() >= longAt) {
        isLong = true
        yield* onLong
      }
      left -= chunk.length
      yield* count(chunk.length)
      transfer.count(chunk.length)
      const sent = left > 0 ? connection.write(chunk) : connection.end(chunk)
      if (sent === undefined) continue
      if (!isLong) yield* onLong
      isLong = true
      start()
      yield* sent
      stop()
    }
    if (left <= 0) return memory.giveBack()
  }
})

/** Responses of a second and more are long. */
const longNanos = 1_000_000_000n
