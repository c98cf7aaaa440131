/** The directory of the built console. */
import { Option } from "effect"
import { fileURLToPath } from "node:url"

/** Returns the directory of the files that the package `@kinora/console` was built into. `None` if the package is not installed. */
export const find: () => Option.Option<string> = Option.liftThrowable(() =>
  fileURLToPath(new URL("dist/web", import.meta.resolve("@kinora/console/package.json")))
)
