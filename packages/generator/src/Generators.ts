/** The drivers of a host, by the name in the configuration of a model. */
import { Context, Effect, Layer, Option } from "effect"
import { Generator } from "./Generator.ts"

/** Finds drivers by name. */
export class Generators extends Context.Service<Generators, {
  /** Returns the driver with this name, or `None` if it is not registered. */
  readonly get: (name: string) => Option.Option<Generator["Service"]>
  /** Names of all drivers, sorted. */
  readonly names: ReadonlyArray<string>
}>()("@kinora/generator/Generators") {}

/**
 * Builds each driver and registers it under its key:
 *
 *     Generators.layer({ procedural: ProceduralGenerator.layer(), scripted: ScriptedGenerator.layer })
 */
export const layer = <const Drivers extends Readonly<Record<string, Layer.Layer<Generator, unknown, unknown>>>>(
  drivers: Drivers
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
      >
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Builds each driver into a context of its own, since all provide the same service. */
const make = Effect.fnUntraced(function*<E, R>(drivers: Readonly<Record<string, Layer.Layer<Generator, E, R>>>) {
  const registered = new Map<string, Generator["Service"]>()
  for (const name of Object.keys(drivers).toSorted()) {
    const driver = drivers[name]
    if (driver !== undefined) registered.set(name, Context.get(yield* Layer.build(driver), Generator))
  }
  return Generators.of({
    get: (name) => Option.fromUndefinedOr(registered.get(name)),
    names: [...registered.keys()]
  })
})
