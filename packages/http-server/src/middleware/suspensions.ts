/** Ends reads that authentication does not cover: those through signed URLs, and those that began before a suspension. */
import { Accounts } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Cache, Context, Duration, Effect, Exit, Latch, Layer, RcMap } from "effect"

/** The suspensions of accounts. They take effect within 5 seconds. */
export class Suspensions extends Context.Service<Suspensions>()("@kinora/http-server/Suspensions", {
  make: Effect.gen(function*() {
    const accounts = yield* Accounts.Accounts
    const lookUp = Effect.fnUntraced(function*(account: string) {
      const id = AccountId.parse(account)
      return id !== undefined && (yield* accounts.get(id)).status !== "active"
    }, Effect.catchTag("AccountsError", Effect.die))
    const suspensions = yield* Cache.makeWith(lookUp, {
      capacity: accountsMax,
      timeToLive: (exit) => Exit.isSuccess(exit) ? ageMax : Duration.zero
    })

    /** Returns whether the account is suspended or deleted. */
    const isSuspended = (account: string) => Cache.get(suspensions, account)

    // One fiber per account, since thousands of reads can wait.
    const watches = yield* RcMap.make({
      lookup: Effect.fnUntraced(function*(account: string) {
        const observers = new Set<() => void>()
        const check = Effect.gen(function*() {
          yield* Effect.sleep(ageMax)
          // While the storage fails, no account counts as suspended. The next check asks again.
          const suspended = yield* Effect.orElseSucceed(isSuspended(account), () => false)
          if (suspended) { for (const observer of observers) observer() }
        })
        yield* Effect.forkScoped(Effect.forever(check))
        return observers
      })
    })

    /** Calls `onSuspended` while the account is suspended, from some seconds later on, until the scope closes. */
    const observe = Effect.fnUntraced(function*(account: string, onSuspended: () => void) {
      const observers = yield* RcMap.get(watches, account)
      observers.add(onSuspended)
      yield* Effect.addFinalizer(() => Effect.sync(() => observers.delete(onSuspended)))
    })

    /** Completes when the account is suspended. */
    const awaitSuspension = (account: string): Effect.Effect<void> =>
      Effect.scoped(Effect.gen(function*() {
        const suspended = yield* Latch.make()
        yield* observe(account, () => suspended.openUnsafe())
        yield* suspended.await
      }))

    return { isSuspended, awaitSuspension, observe }
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
