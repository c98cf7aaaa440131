/** Keys of the configuration file that have schemas of their own. */
import { Redacted } from "effect"
import { dirname, resolve } from "node:path"
import type { ConfigFile } from "./configFile.ts"
import type { Environment } from "./settingValues.ts"
import type { Section } from "./variables.ts"

/** Returns the section of a key, or `undefined` if the file has none. */
export const sectionOf = (
  key: "drivers" | "moderation" | "oidc",
  { content, path }: ConfigFile,
  environment: Environment
): Section | undefined =>
  content[key] === undefined || content[key] === null ? undefined : {
    content: content[key],
    directory: dirname(resolve(path)),
    environment: Redacted.make(environment)
  }
