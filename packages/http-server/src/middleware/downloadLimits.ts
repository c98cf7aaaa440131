/** Download limits of an account. See docs/reference/http-api.md#download-limits. */
import type { File, Generation, StoredFile } from "@kinora/generations/Generation"
import { refuse } from "@kinora/http-api/ApiError"
import { Budget, Places } from "@kinora/rate-limit"
import { Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as ReservedBytes from "./reservedBytes.ts"

/** The key of an account's bytes per day. */
export const bytesKey = (account: string): string => `bytes:${account}`

/** Makes the limits. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { downloadBlockBytes, downloadBytesPerDay, downloadLinkShare } = options
  const { downloadPicturesMax, downloadStreamsMax, resultDownloadMultiple } = options
  const budget = yield* Budget.Budget
  const places = yield* Places.Places

  const resultLimit = (id: string, { bytes }: StoredFile) => ({
    key: `downloads:${id}`,
    limit: resultDownloadMultiple * bytes
  })

  const meterOf = (block: ReservedBytes.Block): Meter => ({
    count: (bytes) => ReservedBytes.count(budget, block, bytes)
  })

  /**
   * Takes a place among the account's streams until the scope closes, or among those of
   * its signed URLs, so that a leaked URL leaves the places of its keys free. Smaller pictures have places of their
   * own, since a gallery requests many at once and each is sent in a moment. Signed URLs
   * have a share of the bytes of the day for the same reason. Rejects a
   * download that does not fit the day as a whole. Bytes are reserved one block at a
   * time, so a killed process leaves at most one block per download counted that was not sent, and one of each limit
   * that it took in advance for small downloads.
   */
  const admit = Effect.fnUntraced(function*(
    { account, id }: Generation,
    file: File,
    stored: StoredFile,
    amount: number,
    isSigned: boolean
  ) {
    const max = file === "content" ? downloadStreamsMax : downloadPicturesMax
    const hasPlace = yield* places.acquire({ key: placesKey(account, file, isSigned), max, mayBeKept: true })
    if (!hasPlace) return yield* limited("streams", takenPlaceMillis)

    const limits = [{ key: bytesKey(account), limit: downloadBytesPerDay }]
    if (isSigned) {
      limits.push({ key: linkBytesKey(account), limit: Math.floor(downloadBytesPerDay * downloadLinkShare) })
    }
    if (file === "content") limits.push(resultLimit(id, stored))
    const { block, refused } = yield* ReservedBytes.reserve(budget, limits, amount, downloadBlockBytes)
    if (refused !== undefined) {
      return yield* limitedForToday(limitOf(refused.key, account), refused)
    }
    return meterOf(block)
  })

  /**
   * Admits a result that is a part of another response. It counts as a download of the result, not for the account. If
   * `isFirst`, it is never rejected, since the request paid for it, and bytes that cannot be counted are logged.
   */
  const admitEmbedded = Effect.fnUntraced(function*({ id }: Generation, stored: StoredFile, isFirst: boolean) {
    const limit = resultLimit(id, stored)
    if (isFirst) {
      return meterOf(
        yield* ReservedBytes.reserveUnlimited(budget, [limit.key], stored.bytes, downloadBlockBytes)
      )
    }
    const { block, refused } = yield* ReservedBytes.reserve(budget, [limit], stored.bytes, downloadBlockBytes)
    return refused === undefined ? meterOf(block) : yield* limitedForToday("downloads", refused)
  })

  return { admit, admitEmbedded }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Counts the bytes of an admitted download. */
interface Meter {
  /** Counts bytes before they are sent. Never fails, because a response under way cannot be rejected. */
  readonly count: (bytes: number) => Effect.Effect<void>
}

/** The key of the places of an account's downloads. */
const placesKey = (account: string, file: File, isSigned: boolean): string =>
  file === "content"
    ? `${isSigned ? "links" : "streams"}:${account}`
    : `${isSigned ? "picture-links" : "pictures"}:${account}`

const linkBytesKey = (account: string): string => `bytes-links:${account}`

const limitOf = (key: string, account: string): Limit =>
  key === bytesKey(account) ? "bytes" : key === linkBytesKey(account) ? "linkBytes" : "downloads"

/** How soon a place among the streams is likely to be free. */
const takenPlaceMillis = 5000

const messages = {
  streams: "The account has reached its limit of concurrent downloads; retry after one has ended.",
  bytes: "The account has reached its download limit of the day; the counter resets at 00:00 UTC.",
  linkBytes:
    "Signed URLs of the account have reached their download limit of the day; use an API key, or wait until 00:00 UTC.",
  downloads: "This result has reached its download limit of the day; the counter resets at 00:00 UTC."
} as const

type Limit = keyof typeof messages

const limited = (limit: Limit, retryAfterMillis: number) =>
  refuse("download_limited", {
    message: messages[limit],
    details: { scope: limit === "linkBytes" ? "bytes" : limit },
    retryAfterMillis,
    shouldRetry: limit === "streams"
  })

const limitedForToday = (limit: Limit, { at, resetsAt }: ReservedBytes.Refused) =>
  limited(limit, resetsAt.epochMilliseconds - at.epochMilliseconds)
