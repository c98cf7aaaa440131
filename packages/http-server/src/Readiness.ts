/** Whether the host can handle requests, for `/readyz`. */
import { Context, Effect, Layer } from "effect"

/** The host provides it, because it owns the database, the file storage and the migrations. */
export class Readiness extends Context.Service<Readiness, {
  /**
   * Returns the names of the parts that are not ready, such as `database` or
   * `draining`; none if the host is ready. Anybody can read the names. Must respond
   * quickly, because it is called often, and must not fail.
   */
  readonly notReady: Effect.Effect<ReadonlyArray<string>>
}>()("@kinora/http-server/Readiness") {}

/** A host that is always ready, because it depends on nothing outside of the process. */
export const layerAlways: Layer.Layer<Readiness> = Layer.succeed(Readiness, { notReady: Effect.succeed([]) })
