/** Directories of new databases. */
import { PGlite } from "@electric-sql/pglite"
import { cpSync, existsSync, readFileSync, type Stats } from "node:fs"
import { chmod, lstat, mkdir, readdir, rename, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Creates the database of a directory that does not exist. A process that is killed before the last step, which renames
 * the directory, leaves no directory of this name. PGlite initialises an existing directory in place: it can be a mount
 * point, or its parent may not be writable.
 */
export const create = async (directory: string, template?: string): Promise<void> => {
  if (existsSync(directory)) return
  // Without a trailing slash.
  const path = resolve(directory)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.new`
  await rm(part, { recursive: true, force: true })
  const copied = template ?? templateDirectory()
  if (existsSync(copied)) {
    cpSync(copied, part, { recursive: true })
    // The files of the template may be read-only.
    await eachFile(part, (file, stats) => chmod(file, stats.isDirectory() ? 0o700 : 0o600))
  } else await initialize(part)
  await chmod(part, 0o700)
  await rename(part, path)
}

/** Initialises the database that `create` copies. `npm run template` of this package calls it. */
export const writeTemplate = async (): Promise<void> => {
  const template = templateDirectory()
  await rm(template, { recursive: true, force: true })
  await mkdir(dirname(template), { recursive: true })
  const part = `${template}.new`
  await rm(part, { recursive: true, force: true })
  await initialize(part)
  // The server may run as another user than the installation, which nobody else may change.
  await eachFile(part, (path, stats) => chmod(path, stats.isDirectory() ? 0o755 : 0o644))
  await chmod(part, 0o755)
  await rename(part, template)
}

/** Takes the permissions of other users from all files. PGlite unpacks a new database with mode 0666, whatever the umask. */
export const closeToOthers = (directory: string): Promise<void> =>
  eachFile(directory, async (path, { mode }) => {
    if ((mode & 0o077) !== 0) await chmod(path, mode & 0o7700)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The template is that of one version of PGlite, since another may not read it. */
const templateDirectory = (): string => {
  const text = readFileSync(new URL("../package.json", import.meta.resolve("@electric-sql/pglite")), "utf8")
  const { version }: { readonly version: string } = JSON.parse(text)
  return fileURLToPath(new URL(`../../dist/template-${version}`, import.meta.url))
}

/** Takes ten times as long as a copy of the template. */
const initialize = async (directory: string): Promise<void> => {
  await mkdir(directory, { mode: 0o700 })
  const database = await PGlite.create(directory)
  await database.close()
}

const eachFile = async (directory: string, change: (path: string, stats: Stats) => Promise<void>): Promise<void> => {
  for (const name of await readdir(directory, { recursive: true })) {
    const path = join(directory, name)
    const stats = await lstat(path)
    if (!stats.isSymbolicLink()) await change(path, stats)
  }
}
