/** Whether the host can take requests: what `/readyz` asks (D49). */
import { Context, Effect, Layer } from "effect"

/** Given by the host, which alone knows its database, storage and migrations. */
export class Readiness extends Context.Service<Readiness, {
  /**
   * Names of what is not good now, `database` or `draining` for example: none means
   * ready. Shown to anybody who asks, so names only. Asked often: it answers fast,
   * and never fails.
   */
  readonly notReady: Effect.Effect<ReadonlyArray<string>>
}>()("@kinora/http-server/Readiness") {}

/** A host that is ready whenever it runs, since it has nothing outside of itself. */
export const layerAlways: Layer.Layer<Readiness> = Layer.succeed(Readiness, { notReady: Effect.succeed([]) })
