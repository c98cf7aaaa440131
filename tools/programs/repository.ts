/** Where the repository is. */
import { join } from "node:path"

/** Absolute path of the repository. */
export const repository = join(import.meta.dirname, "../..")
