/**
 * Bounds the time in which a request gets its response, and how many requests are handled at the same time.
 *
 * An account can hold as many places as are free: half of them alone, a third beside one other account that sends as many
 * requests as it can. So places are left for requests of the other accounts, however many accounts do so.
 *
 * Time is counted in intervals of one shared timer, so that a request does not run out of time because the process was
 * suspended or busy while a response that it needs arrived.
 */
import { Duration, Effect, Fiber } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Pacing from "./pacing.ts"
import * as SharedTimer from "./sharedTimer.ts"

/** The time of one request, and its share of the turns of the event loop. */
export interface RequestBudget {
  /**
   * Runs the effect. When the time is used up, runs `late` instead and interrupts the effect without waiting for it: what
   * it cannot interrupt, such as a commit, continues.
   */
  readonly within: <A, E, R, B>(
    effect: Effect.Effect<A, E, R>,
    late: Effect.Effect<B>
  ) => Effect.Effect<A | B, E, R>
  /** Runs an effect that may take longer, such as a long poll. Its time does not count. */
  readonly paused: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Counts the place of the request as one of this account. Returns `false` if the account holds as many places as are
   * free. The first call counts; later ones change nothing.
   */
  readonly claim: (account: string) => boolean
  /** Waits until the account can move these bytes of a body or a file beside other accounts. `undefined` if it can at once. */
  readonly pace: (account: string, bytes: number) => Effect.Effect<void> | undefined
}

/** A budget without a limit. */
export const unlimited: RequestBudget = {
  within: (effect) => effect,
  paused: (effect) => effect,
  claim: () => true,
  pace: () => undefined
}

/** A budget that is used up. */
export const exhausted: RequestBudget = { ...unlimited, within: (_, late) => late }

/** Returns a function that counts bytes of an account after it has waited for their turns. */
export const paced =
  (budget: RequestBudget, account: string, count: (bytes: number) => Effect.Effect<void>) =>
  (bytes: number): Effect.Effect<void> => {
    const turns = budget.pace(account, bytes)
    return turns === undefined ? count(bytes) : Effect.andThen(turns, count(bytes))
  }

/** Makes the function that runs requests within their budgets. Its timer runs until the scope closes. */
export const make = Effect.fnUntraced(function*({ requestTime, requestsMax }: HttpServerOptions) {
  /** The requests whose time counts. */
  const active = yield* SharedTimer.make(Duration.divideUnsafe(requestTime, intervals))
  /** The number of these that each account has. */
  const byAccount = new Map<string, number>()
  const pacing = yield* Pacing.make

  const count = ({ account }: Spending, change: 1 | -1) => {
    if (account === undefined) return
    const held = (byAccount.get(account) ?? 0) + change
    if (held === 0) byAccount.delete(account)
    else byAccount.set(account, held)
  }
  const start = (spending: Spending) => {
    if (spending.isEnded || spending.isActive) return
    spending.isActive = true
    active.add(spending)
    count(spending, 1)
  }
  const stop = (spending: Spending) => {
    if (!spending.isActive) return
    spending.isActive = false
    active.delete(spending)
    count(spending, -1)
  }
  const claim = (spending: Spending, account: string): boolean => {
    if (spending.account !== undefined) return true
    pacing.record(account)
    const held = byAccount.get(account) ?? 0
    if (held > 0 && held >= requestsMax - active.size()) return false
    spending.account = account
    if (spending.isActive) byAccount.set(account, held + 1)
    return true
  }

  const budgetOf = (spending: Spending): RequestBudget => ({
    within: (effect, late) => within(spending, effect, late),
    paused: (effect) =>
      Effect.suspend(() => {
        stop(spending)
        return Effect.ensuring(effect, Effect.sync(() => start(spending)))
      }),
    claim: (account) => claim(spending, account),
    pace: pacing.take
  })

  /** Runs a request with a budget, or `overloaded` if too many are handled. */
  return <A, E, R, B>(
    handle: (budget: RequestBudget) => Effect.Effect<A, E, R>,
    overloaded: Effect.Effect<B>
  ): Effect.Effect<A | B, E, R> =>
    Effect.suspend((): Effect.Effect<A | B, E, R> => {
      if (active.size() >= requestsMax) return overloaded
      const spending = new Spending(() => stop(spending))
      start(spending)
      return Effect.ensuring(handle(budgetOf(spending)), Effect.sync(() => spending.end()))
    })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Intervals in the time of a request. */
const intervals = 20

/** The intervals that a request has used. */
class Spending implements SharedTimer.Member {
  readonly #stop: () => void
  #used = 0
  #onLate: (() => void) | undefined
  /** The account that sent the request, once it is known. */
  account: string | undefined
  /** Whether its time counts. */
  isActive = false
  isLate = false
  isEnded = false

  constructor(stop: () => void) {
    this.#stop = stop
  }

  tick(): void {
    // The first interval may have begun before the request.
    if (this.#used++ < intervals) return
    this.isLate = true
    this.end()
    this.#onLate?.()
  }

  /** Calls `onLate` when the time is used up. Returns a function that stops that. */
  observe(onLate: () => void): () => void {
    this.#onLate = onLate
    return () => {
      this.#onLate = undefined
    }
  }

  end(): void {
    this.isEnded = true
    this.#stop()
  }
}

const within = <A, E, R, B>(
  spending: Spending,
  effect: Effect.Effect<A, E, R>,
  late: Effect.Effect<B>
): Effect.Effect<A | B, E, R> =>
  Effect.suspend(() => {
    if (spending.isLate) return late
    // The router makes the handler interruptible, and nothing around it.
    const fork = Effect.forkDetach(effect, { startImmediately: true, uninterruptible: "inherit" })
    return Effect.flatMap(fork, (fiber) => {
      // A handler that is done needs no further steps.
      return fiber.pollUnsafe() ?? Effect.interruptible(awaitWithin(spending, fiber, late))
    })
  })

const awaitWithin = <A, E, B>(spending: Spending, fiber: Fiber.Fiber<A, E>, late: Effect.Effect<B>) =>
  Effect.callback<A | B, E>((done) => {
    const ignore = spending.observe(() => {
      forget()
      fiber.interruptUnsafe()
      done(late)
    })
    const forget = fiber.addObserver((exit) => {
      ignore()
      done(exit)
    })
    return Effect.suspend(() => {
      ignore()
      forget()
      return Fiber.interrupt(fiber)
    })
  })
