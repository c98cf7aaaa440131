/** Paces the bytes that accounts move, so that one with many transfers does not delay the requests of others. */
import * as Turns from "@kinora/media/Turns"
import { Clock, Duration, Effect } from "effect"

/** Bytes of an account per turn of the event loop, beside other accounts. A larger chunk waits for several turns before it is moved. */
export const bytesPerTurn = 32 * 1024

/** The pace of all accounts. */
export interface Pacing {
  /** Records that an account sends a request. */
  readonly record: (account: string) => void
  /**
   * Records that an account moves bytes. Returns an effect that waits for the turns of these bytes and of those before, or
   * `undefined` if no other account is active: waiting would cost a single account a fifth of its downloads per second.
   */
  readonly take: (account: string, bytes: number) => Effect.Effect<void> | undefined
}

/**
 * Makes the pace of a server. Without it, a turn of the event loop takes as long as all chunks of an account that are ready,
 * and each step of another request waits for it.
 */
export const make = Effect.map(Clock.Clock, (clock): Pacing => {
  const inOrder = Turns.make({ max: Number.MAX_SAFE_INTEGER, ownMax: 1 })
  // Two accounts are enough to know whether there is another one.
  let latest: Active = { account: undefined, at: 0n }
  let other = latest

  const record = (account: string): void => {
    if (account !== latest.account) other = latest
    latest = { account, at: clock.monotonicTimeNanosUnsafe() }
  }

  return {
    record,
    take: (account, bytes) => {
      record(account)
      const isAlone = other.account === undefined || latest.at - other.at > activeNanos
      return isAlone ? undefined : inOrder(account)(waitTurns(Math.ceil(bytes / bytesPerTurn)))
    }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Active {
  readonly account: string | undefined
  readonly at: bigint
}

/** Time for which an account counts as active after its last request or chunk. */
const activeNanos = Duration.toNanosUnsafe("1 second")

const waitTurns = Effect.fnUntraced(function*(turns: number) {
  for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
})
