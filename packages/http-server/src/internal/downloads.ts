/** What of its results an account may download: streams at once, and bytes per UTC day (D29, D34). */
import type { File, Generation, StoredFile } from "@kinora/generations/Generation"
import { bodyOf, TooManyRequests } from "@kinora/http-api/ApiError"
import { Budget, Places } from "@kinora/rate-limit"
import { Clock, type DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { unavailable } from "./refusals.ts"

/** Counts what is sent, so that what was set aside and not sent is given back. */
export interface Meter {
  sent: number
}

/** The counter of the bytes that an account downloads in a day. */
export const bytesKey = (account: string): string => `bytes:${account}`

/** The limits of downloads. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const budget = yield* Budget.Budget
  const places = yield* Places.Places

  const settle = (reserved: ReadonlyArray<Budget.Reserved>, { sent }: Meter) =>
    Effect.forEach(
      reserved,
      (one) => one._tag === "Granted" ? budget.settle(one.reservation, sent) : Effect.void,
      { discard: true }
    ).pipe(
      // What was set aside then stays counted until the day ends.
      Effect.catch((error) => Effect.logWarning("A download could not be settled", error))
    )

  /**
   * Takes a place among the account's streams and sets aside the bytes that the
   * request asks for, until its scope closes; then the meter says what was used. A
   * request that does not fit is refused, and one that sends nothing uses nothing.
   */
  const admit = Effect.fnUntraced(function*(
    { account, id }: Generation,
    file: File,
    stored: StoredFile,
    amount: number
  ) {
    const hasPlace = yield* places.acquire({ key: `streams:${account}`, max: options.downloadStreamsMax })
    if (!hasPlace) return yield* limited("streams", takenPlaceMillis)
    const meter: Meter = { sent: 0 }
    const asked = [{ key: bytesKey(account), limit: options.downloadBytesPerDay, amount }]
    if (file === "content") {
      asked.push({ key: `downloads:${id}`, limit: options.resultDownloadMultiple * stored.bytes, amount })
    }
    const [bytes, downloads] = yield* Effect.acquireRelease(
      budget.reserveAll(asked),
      (reserved) => settle(reserved, meter)
    )
    if (bytes?._tag === "Refused") return yield* limitedForToday("bytes", bytes.resetsAt)
    if (downloads?._tag === "Refused") return yield* limitedForToday("downloads", downloads.resetsAt)
    return meter
  }, Effect.catchTag("StorageError", unavailable))

  return { admit }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What `details.scope` of a `download_limited` says (D27). */
type Scope = "streams" | "bytes" | "downloads"

/** D27. */
const takenPlaceMillis = 5000

const messages: Readonly<Record<Scope, string>> = {
  streams: "The account downloads as many files at once as it may; try again once one of them is done.",
  bytes: "The account has downloaded as much as it may today; the counter starts again at 00:00 UTC.",
  downloads: "This result was downloaded as often as it may be today; the counter starts again at 00:00 UTC."
}

const limited = (scope: Scope, afterMillis: number) =>
  Effect.fail(
    new TooManyRequests({
      error: bodyOf("download_limited", { message: messages[scope], details: { scope } }),
      retry: { afterMillis },
      shouldRetry: scope === "streams"
    })
  )

const limitedForToday = (scope: Scope, resetsAt: DateTime.Utc) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => limited(scope, Math.max(0, resetsAt.epochMilliseconds - now)))
