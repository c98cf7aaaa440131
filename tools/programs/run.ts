/**
 * Runs the program that the first argument names, for `start.js`.
 *
 * Runs the bundle of the programs, which `npm ci` writes, and writes it again if a source has changed since. Without
 * rolldown, which is a development dependency, or where the bundle cannot be written, the program runs from source.
 */
import { returnFreedMemory } from "@kinora/hosting/FreedMemory"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { currentBundle } from "./current.ts"
import { repository } from "./repository.ts"

const [name = "", ...args] = process.argv.slice(2)
const file = join("hosts", name, "src/main")

// The command ends soon.
if (name !== "cli") returnFreedMemory()
const directory = currentBundle()
const main = directory === undefined ? join(repository, `${file}.ts`) : join(directory, `${file}.js`)
process.setSourceMapsEnabled(true)
process.argv = [process.execPath, main, ...args]
await import(pathToFileURL(main).href)
