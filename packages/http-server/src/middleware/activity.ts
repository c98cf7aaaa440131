/** Recent activity of accounts. */
import { Clock, Duration, Effect } from "effect"

/** Time after the last activity of an account from which on it no longer counts. */
const recent = Duration.toNanosUnsafe("1 second")

/** The accounts that were active most recently. */
export interface Activity {
  /** Records that an account sends a request, or moves bytes. */
  readonly record: (account: string) => void
  /** Whether another account was active within the last second. */
  readonly hasOthers: (account: string) => boolean
}

/** Makes an activity without accounts. Two accounts are kept, which is enough to know whether there was another one. */
export const make = Effect.map(Clock.Clock, (clock): Activity => {
  let latest: Active = { account: undefined, at: 0n }
  /** The latest one of the other accounts. */
  let other = latest
  return {
    record: (account) => {
      if (account !== latest.account) other = latest
      latest = { account, at: clock.monotonicTimeNanosUnsafe() }
    },
    hasOthers: (account) => {
      const { account: found, at } = account === latest.account ? other : latest
      return found !== undefined && clock.monotonicTimeNanosUnsafe() - at <= recent
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
