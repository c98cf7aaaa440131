/** Announces what a worker can run. */
import { Effect, Random } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { logFailure, type Settings } from "./settings.ts"

/** Creates the loop. It renews the offer like a lease, and retracts it when it is interrupted. */
export const makeOfferLoop = Effect.fnUntraced(function*(settings: Settings) {
  const scheduler = yield* Scheduler
  // A worker that restarts under its name has its own offer.
  const id = settings.id ?? String(yield* Random.nextInt)
  const offer = {
    id,
    worker: settings.name,
    kinds: settings.handlers.flatMap(({ claims }) => claims),
    slots: settings.concurrency,
    ttl: settings.lease
  }
  const announce = scheduler.announce(offer).pipe(logFailure("Announcing the worker failed", undefined))
  const retract = scheduler.retract(id).pipe(logFailure("Retracting the worker's offer failed; it expires", undefined))

  return Effect.andThen(announce, Effect.sleep(settings.heartbeatInterval)).pipe(
    Effect.forever,
    Effect.ensuring(retract)
  )
})
