/** The directories of the built console and of the built API reference. */
import { Option } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Returns the directory of the console. `None` if the package `@kinora/console` is not installed. */
export const findConsole = (): Option.Option<string> => find("web")

/** Returns the directory of the API reference. `None` if the package `@kinora/console` is not installed. */
export const findReference = (): Option.Option<string> => find("reference")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The package is not a dependency, since a host also runs without it. */
const manifest = "@kinora/console/package.json"

const find = Option.liftThrowable((directory: string) =>
  join(dirname(createRequire(import.meta.url).resolve(manifest)), "dist", directory)
)
