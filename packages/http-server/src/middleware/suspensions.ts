/** Ends reads that authentication does not cover: those through signed URLs, and those that began before a suspension. */
import { Accounts } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { currentRequest } from "./currentRequest.ts"

/** The suspensions of accounts. They take effect within 5 seconds. */
export class Suspensions extends Context.Service<Suspensions>()("@kinora/http-server/Suspensions", {
  make: Effect.gen(function*() {
    const accounts = yield* Accounts.Accounts
    const lookUp = Effect.fnUntraced(function*(account: string) {
      const id = AccountId.parse(account)
      return id !== undefined && (yield* accounts.get(id)).status === "suspended"
    }, Effect.catchTag("AccountsError", Effect.die))
    const suspensions = yield* Cache.makeWith(lookUp, {
      capacity: accountsMax,
      timeToLive: (exit) => Exit.isSuccess(exit) ? ageMax : Duration.zero
    })

    /** Returns whether the account is suspended. */
    const isSuspended = (account: string) => Cache.get(suspensions, account)

    /** Completes when the account is suspended. Storage failures are ignored until they pass. */
    const awaitSuspension = (account: string): Effect.Effect<void> =>
      Effect.repeat(Effect.orElseSucceed(Effect.delay(isSuspended(account), ageMax), () => false), {
        until: (suspended) => suspended
      }).pipe(Effect.asVoid)

    /** Closes the connection of the current request when the account is suspended before the request ends. */
    const closeOnSuspension = Effect.fnUntraced(function*(account: string) {
      const { close } = yield* currentRequest
      yield* Effect.forkScoped(Effect.andThen(awaitSuspension(account), Effect.sync(close)))
    })

    return { isSuspended, awaitSuspension, closeOnSuspension }
  })
}) {
  static readonly layer = Layer.effect(Suspensions, Suspensions.make)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Reads that wait check this often, so that a suspension takes effect within twice this time. */
const ageMax = Duration.millis(2_500)

/** Accounts whose status is cached. */
const accountsMax = 10_000
