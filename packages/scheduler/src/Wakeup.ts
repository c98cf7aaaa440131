/** Wakes workers when jobs are queued. */
import * as PgNotifications from "@kinora/persistence/PgNotifications"
import { mapSql, type StorageError } from "@kinora/persistence/StorageError"
import * as Waking from "@kinora/persistence/Waking"
import { Context, Effect, Layer, Stream } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as Handovers from "./internal/handovers.ts"
import type { NotificationOptions } from "./internal/requests.ts"

/**
 * Wakes the workers of this process, and those of other processes through hooks. A wake-up names the kinds of the jobs that
 * were queued, with their pools, and wakes the workers that claim one of them.
 */
export class Wakeup extends Context.Service<
  Wakeup,
  Waking.Waking & {
    /**
     * Wakes the workers of other processes that claim one of these kinds when the surrounding unit commits. Nothing waits for
     * them.
     */
    readonly announce: (kinds: Waking.Kinds) => Effect.Effect<void, StorageError>
    /** The workers of this process that take jobs when it enqueues them. */
    readonly handovers: Handovers.Handovers
  }
>()("@kinora/scheduler/Wakeup") {}

/** Options of `layerWith`: hooks to other processes. */
interface WakeupOptions extends Waking.WakingOptions {
  /** Notifies other processes when the surrounding unit commits. Runs in each unit that queues jobs. A failure undoes the unit. */
  readonly announce?: Waking.Hook<StorageError> | undefined
}

/** Provides a wake-up with hooks to other processes. `publish` runs after each commit that queues jobs. */
export const layerWith = ({ announce = Effect.void, ...options }: WakeupOptions): Layer.Layer<Wakeup> =>
  Layer.effect(
    Wakeup,
    Effect.map(Waking.make(options), (waking) =>
      Wakeup.of({
        ...waking,
        announce: (kinds) => Effect.suspend(() => Waking.runHook(announce, kinds)),
        handovers: Handovers.make()
      }))
  )

/** Provides a wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})

/** Provides a wake-up for all processes with the same tables, over `LISTEN` and `NOTIFY`. */
export const layerPostgres = (
  { listen = true, notify = true }: NotificationOptions = {}
): Layer.Layer<Wakeup, never, SecureRandom.SecureRandom | SqlClient.SqlClient> =>
  Layer.unwrap(Effect.map(PgNotifications.make("scheduler_job"), (notifications) =>
    layerWith({
      announce: notify ? (kinds) => mapSql("Wakeup.announce")(notifications.notify(kinds)) : Effect.void,
      subscribe: listen ? notifications.received : Stream.empty
    })))
