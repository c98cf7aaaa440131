/** The drivers of a host, by the name in the configuration of a model. */
import { Context, Effect, Layer, Option } from "effect"
import { Generator } from "./Generator.ts"
import * as UpstreamLimits from "./UpstreamLimits.ts"

/** Finds drivers by name. */
export class Generators extends Context.Service<Generators, {
  /** Returns the driver with this name, or `None` if it is not registered. */
  readonly get: (name: string) => Option.Option<Generator["Service"]>
  /** Returns the limits of the calls to a driver. Default: `UpstreamLimits.defaults`. */
  readonly limits: (name: string) => UpstreamLimits.UpstreamLimits
  /** Names of all drivers, sorted. */
  readonly names: ReadonlyArray<string>
}>()("@kinora/generator/Generators") {}

/**
 * Builds each driver and registers it under its key, with the limits under the same key:
 *
 *     Generators.layer({ procedural: ProceduralGenerator.layer(), scripted: ScriptedGenerator.layer })
 */
export const layer = <const Drivers extends Readonly<Record<string, Layer.Layer<Generator, unknown, unknown>>>>(
  drivers: Drivers,
  limits: Limits = {}
): Layer.Layer<Generators, Layer.Error<Drivers[keyof Drivers]>, Layer.Services<Drivers[keyof Drivers]>> =>
  // The record's own error and service types are those of its members.
  Layer.effect(
    Generators,
    make(
      drivers as Readonly<
        Record<
          string,
          Layer.Layer<Generator, Layer.Error<Drivers[keyof Drivers]>, Layer.Services<Drivers[keyof Drivers]>>
        >
      >,
      limits
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Limits = Readonly<Record<string, UpstreamLimits.UpstreamLimits>>

/** Builds each driver into a separate context, since all provide the same service. */
const make = Effect.fnUntraced(function*<E, R>(
  drivers: Readonly<Record<string, Layer.Layer<Generator, E, R>>>,
  limits: Limits
) {
  const registered = new Map<string, Generator["Service"]>()
  for (const name of Object.keys(drivers).toSorted()) {
    const driver = drivers[name]
    if (driver !== undefined) registered.set(name, Context.get(yield* Layer.build(driver), Generator))
  }
  return Generators.of({
    get: (name) => Option.fromUndefinedOr(registered.get(name)),
    limits: (name) => (Object.hasOwn(limits, name) ? limits[name] : undefined) ?? UpstreamLimits.defaults,
    names: [...registered.keys()]
  })
})
