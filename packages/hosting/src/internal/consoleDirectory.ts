/** The directory of the built console. */
import { Option } from "effect"
import { fileURLToPath } from "node:url"

/** The package is not a dependency, since a host also runs without it. */
const name = "@kinora/console"

/** Returns the directory of the files that the package `@kinora/console` was built into. `None` if the package is not installed. */
export const find: () => Option.Option<string> = Option.liftThrowable(() =>
  fileURLToPath(new URL("dist/web", import.meta.resolve(`${name}/package.json`)))
)
