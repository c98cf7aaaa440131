/** Directories of new databases. */
import { PGlite } from "@electric-sql/pglite"
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { chmod, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

/**
 * Creates the database of a directory that does not exist, from the first of `templates` that is not missing or damaged. If
 * all are, PGlite initialises the database. A process that is killed before the last step, which renames the directory,
 * leaves no directory of this name. PGlite initialises an existing directory in place: it can be a mount point, or its parent
 * may not be writable.
 */
export const create = async (
  directory: string,
  templates: ReadonlyArray<string> = [templateOfEmpty]
): Promise<void> => {
  if (existsSync(directory)) return
  // Without a trailing slash.
  const path = resolve(directory)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.new`
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { mode: 0o700 })
  const archive = readFirst(templates)
  if (archive === undefined) await initialize(part)
  else unpack(archive, part)
  await rename(part, path)
}

/** Path of the template of an empty database, as `create` and `writeTemplate` take it. */
export const templateOfEmpty = fileURLToPath(new URL("../../dist/template", import.meta.url))

/** Packs an open database into the file of a template, from which `create` copies it. Removes those of the same path for other versions of PGlite. */
export const writeTemplate = async (database: PGlite, template: string): Promise<void> => {
  // A copy recovers what follows the last checkpoint, and has the whole log. So it begins a log before a checkpoint, after
  // which the old one is removed.
  await database.exec("SET wal_recycle = off; SELECT pg_switch_wal(); CHECKPOINT; RESET wal_recycle")
  const dump = await database.dumpDataDir("none")
  const file = fileOf(template)
  const directory = dirname(file)
  await mkdir(directory, { recursive: true })
  const part = join(directory, `new-${basename(file)}`)
  await writeFile(part, compress(Buffer.from(await dump.arrayBuffer())))
  // The server may run as another user than the installation.
  await chmod(part, 0o644)
  await rename(part, file)
  // Tarballs would get them.
  const isOlder = (name: string) => name.startsWith(`${basename(template)}-`) && name.endsWith(extension)
  const older = (await readdir(directory)).filter((name) => isOlder(name) && name !== basename(file))
  for (const name of older) await rm(join(directory, name))
}

/** Takes the permissions of other users from all files. PGlite unpacks a new database with mode 0666, whatever the umask. */
export const closeToOthers = (directory: string): void => {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const path = join(directory, name)
    const stats = lstatSync(path)
    if (!stats.isSymbolicLink() && (stats.mode & 0o077) !== 0) chmodSync(path, stats.mode & 0o7700)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const extension = ".tar.zst"

/** Returns the file of a template. It is that of one version of PGlite, since another may not read it. */
const fileOf = (template: string): string => {
  const text = readFileSync(new URL("../package.json", import.meta.resolve("@electric-sql/pglite")), "utf8")
  const { version }: { readonly version: string } = JSON.parse(text)
  return `${template}-${version}${extension}`
}

/** Most of a new database are three copies of the catalog, which are 7 MB apart. A checksum detects damage. */
const compress = (archive: Buffer): Buffer =>
  zstdCompressSync(archive, {
    params: { [constants.ZSTD_c_enableLongDistanceMatching]: 1, [constants.ZSTD_c_checksumFlag]: 1 }
  })

/** Returns the archive in the first template that is not missing or damaged, or `undefined`. */
const readFirst = (templates: ReadonlyArray<string>): Buffer | undefined => {
  for (const template of templates) {
    try {
      // It fits into one chunk. Joining many takes longer than decompressing.
      return zstdDecompressSync(readFileSync(fileOf(template)), { chunkSize: 64 * 1024 * 1024 })
    } catch {
      // The next one.
    }
  }
  return undefined
}

/** Unpacks the directories and files of a tar archive that PGlite wrote. No name is longer than the field of the header. */
const unpack = (archive: Buffer, directory: string): void => {
  let position = 0
  // The archive ends with blocks of zeros.
  while (archive[position] !== 0) {
    const header = archive.toString("latin1", position, position + blockBytes)
    const path = join(directory, textAt(header, 0, 100))
    const bytes = Number.parseInt(textAt(header, 124, 12), 8)
    const begin = position + blockBytes
    if (header[156] === directoryType) mkdirSync(path, { mode: 0o700 })
    else writeFileSync(path, archive.subarray(begin, begin + bytes), { mode: 0o600 })
    position = begin + Math.ceil(bytes / blockBytes) * blockBytes
  }
}

/** Size of the blocks of a tar archive. */
const blockBytes = 512

const directoryType = "5"

/** Returns the text of a field, which ends with the field or with a zero. */
const textAt = (header: string, begin: number, length: number): string =>
  header.slice(begin, begin + length).replace(/\0.*$/s, "")

/** Takes twenty times as long as unpacking a template. */
const initialize = async (directory: string): Promise<void> => {
  const database = await PGlite.create(directory)
  await database.close()
}
