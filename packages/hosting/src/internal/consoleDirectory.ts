/** The directory of the built console. */
import { Option } from "effect"
import { fileURLToPath } from "node:url"

/** A dependency that has no modules, only files. A host also runs if they were not built. */
const name = "@kinora/console"

/** Returns the directory of the files that the package `@kinora/console` was built into. `None` if the package is not installed. */
export const find: () => Option.Option<string> = Option.liftThrowable(() =>
  fileURLToPath(new URL("dist/web", import.meta.resolve(`${name}/package.json`)))
)
