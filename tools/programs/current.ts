/** The bundle of the programs that is made of the sources as they are. */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Bundle } from "./bundle.ts"
import { repository } from "./repository.ts"

/** Directory of the bundles and of what is made of them. */
export const cache = join(repository, "node_modules/.cache/kinora-programs")

/**
 * Returns the directory of the bundle, after writing it if a source has changed. Returns `undefined` if that is not
 * possible: in this case, the programs run from source.
 */
export const currentBundle = (): string | undefined => {
  const current = readCurrent()
  if (current !== undefined || !existsSync(join(repository, "node_modules/rolldown"))) return current
  // In a process of its own, which takes its memory with it.
  spawnSync(process.execPath, [join(import.meta.dirname, "write.ts")], { stdio: ["ignore", "ignore", "inherit"] })
  return readCurrent()
}

/**
 * Records a bundle as the one of the sources as they are. Records nothing if one of them has changed since `startedAt`, when it
 * was begun, since the bundle may contain what the source was before.
 */
export const record = ({ directory, sources }: Bundle, startedAt: number): void => {
  const paths = [...alsoRead, ...sources.map((path) => relative(repository, path))]
  if (paths.some((path) => (statsOf(path)?.ctimeMs ?? 0) > startedAt)) return
  const record: Record = {
    repository,
    directory: relative(cache, directory),
    sources: paths.map((path) => [path, stampOf(path)])
  }
  // Another process may do the same at the same time.
  const part = `${recordFile}.${process.pid}`
  writeFileSync(part, JSON.stringify(record))
  renameSync(part, recordFile)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The content of `recordFile`. */
interface Record {
  /** Its absolute path, which the bundle contains. */
  readonly repository: string
  /** Relative to `cache`. */
  readonly directory: string
  /** Paths relative to the repository, with `stampOf` of each. */
  readonly sources: ReadonlyArray<readonly [path: string, stamp: string]>
}

const recordFile = join(cache, "current.json")

/** Files besides the sources from which a bundle follows. npm writes the first when it installs. */
const alsoRead = [
  "node_modules/.package-lock.json",
  ...["bundle.ts", "current.ts", "write.ts"].map((name) => `tools/programs/${name}`)
]

const readCurrent = (): string | undefined => {
  const record = readRecord()
  if (record?.repository !== repository) return undefined
  const path = join(cache, record.directory)
  return existsSync(path) && record.sources.every(([source, stamp]) => stampOf(source) === stamp) ? path : undefined
}

/** Returns `undefined` if there is no record, or one that a crash of the machine left incomplete. */
const readRecord = (): Record | undefined => {
  try {
    return JSON.parse(readFileSync(recordFile, "utf8"))
  } catch {
    return undefined
  }
}

/** Changes when the file does. */
const stampOf = (path: string): string => {
  const stats = statsOf(path)
  return stats === undefined ? "" : `${stats.mtimeMs} ${stats.size}`
}

const statsOf = (path: string) => statSync(join(repository, path), { throwIfNoEntry: false })
