/** What of its results an account may download: streams at once, and bytes per UTC day (D29, D34). */
import type { File, Generation, StoredFile } from "@kinora/generations/Generation"
import { bodyOf, TooManyRequests } from "@kinora/http-api/ApiError"
import { Budget, Places } from "@kinora/rate-limit"
import { Clock, type DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { unavailable } from "./refusals.ts"

/** What an admitted download says of itself. */
export interface Meter {
  /** So many more bytes are about to be sent. Never fails: what is being sent can no longer be refused. */
  readonly count: (bytes: number) => Effect.Effect<void>
}

/** The counter of the bytes that an account downloads in a day. */
export const bytesKey = (account: string): string => `bytes:${account}`

/** The limits of downloads. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { downloadBlockBytes, downloadBytesPerDay, downloadStreamsMax, resultDownloadMultiple } = options
  const budget = yield* Budget.Budget
  const places = yield* Places.Places

  /** Gives back what of the last block was not sent; those before it were. */
  const settle = ({ left, reserved }: Block) =>
    Effect.forEach(
      reserved,
      (one) => one._tag === "Granted" ? budget.settle(one.reservation, one.reservation.amount - left) : Effect.void,
      { discard: true }
    ).pipe(
      // It then stays counted until the day ends.
      Effect.catch((error) => Effect.logWarning("A download could not be settled", error))
    )

  /** Sets the next block aside. Its limit was asked before the first byte, and other streams may use it up meanwhile. */
  const advance = Effect.fnUntraced(
    function*(block: Block, keys: ReadonlyArray<string>) {
      const amount = Math.max(Math.min(downloadBlockBytes, block.rest), -block.left)
      block.reserved = []
      block.left += amount
      block.rest -= amount
      block.reserved = yield* budget.reserveAll(keys.map((key) => ({ key, limit: Number.MAX_SAFE_INTEGER, amount })))
    },
    Effect.catch((error) => Effect.logWarning("A part of a download could not be counted", error)),
    Effect.uninterruptible
  )

  /**
   * Takes a place among the account's streams until its scope closes, and refuses what
   * no longer fits the day as a whole. Bytes are set aside a block at a time: a process
   * that is killed leaves no more than a block counted that was not sent.
   */
  const admit = Effect.fnUntraced(function*(
    { account, id }: Generation,
    file: File,
    stored: StoredFile,
    amount: number
  ) {
    const hasPlace = yield* places.acquire({ key: `streams:${account}`, max: downloadStreamsMax })
    if (!hasPlace) return yield* limited("streams", takenPlaceMillis)

    const limits = [{ key: bytesKey(account), limit: downloadBytesPerDay }]
    if (file === "content") limits.push({ key: `downloads:${id}`, limit: resultDownloadMultiple * stored.bytes })
    const left = Math.min(amount, downloadBlockBytes)
    const rest = amount - left
    const block = yield* Effect.acquireRelease(
      Effect.map(
        // Had only if there is room for the rest as well.
        budget.reserveAll(limits.map(({ key, limit }) => ({ key, limit: Math.max(limit - rest, 0), amount: left }))),
        (reserved): Block => ({ reserved, left, rest })
      ),
      settle
    )
    const [bytes, downloads] = block.reserved
    if (bytes?._tag === "Refused") return yield* limitedForToday("bytes", bytes.resetsAt)
    if (downloads?._tag === "Refused") return yield* limitedForToday("downloads", downloads.resetsAt)

    const keys = limits.map(({ key }) => key)
    const meter: Meter = {
      count: (bytes) => {
        block.left -= bytes
        return block.left < 0 ? advance(block, keys) : Effect.void
      }
    }
    return meter
  }, Effect.catchTag("StorageError", unavailable))

  return { admit }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The bytes that are set aside and not all sent yet. Those of a block that could not be counted have no reservation. */
interface Block {
  reserved: ReadonlyArray<Budget.Reserved>
  /** Bytes of it that are not sent. */
  left: number
  /** Bytes of the request that come after it. */
  rest: number
}

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
