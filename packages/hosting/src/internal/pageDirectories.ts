/** The directories of the built console and of the built API reference. */
import { Option } from "effect"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Returns the directory of the console. `undefined` if the package `@kinora/console` is not installed. */
export const findConsole = (): string | undefined => find("web")

/** Returns whether the console is built in this directory. */
export const isBuilt = (directory: string | undefined): boolean =>
  directory !== undefined && existsSync(join(directory, "index.html"))

/** Returns the directory of the API reference. `undefined` if the package `@kinora/console` is not installed. */
export const findReference = (): string | undefined => find("reference")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A dependency that has no modules, only files. A host also runs if they were not built. */
const manifest = "@kinora/console/package.json"

const resolve = Option.liftThrowable((directory: string) =>
  join(dirname(createRequire(import.meta.url).resolve(manifest)), "dist", directory)
)

const find = (directory: string): string | undefined => Option.getOrUndefined(resolve(directory))
