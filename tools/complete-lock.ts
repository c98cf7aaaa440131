/**
 * Adds to package-lock.json what npm leaves out where a registry does not serve every platform's
 * build of an optional dependency: `npm ci` refuses such a lock, also on the platforms that it has.
 * Run it after `npm install` (`npm run lock`); it changes nothing when nothing is missing.
 */
import { readFile, writeFile } from "node:fs/promises"
import { resolve } from "node:path"

interface Entry {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
}

/** Words of a package's name, and what they say in its manifest. */
const aliases = new Map([["windows", "win32"], ["64", "x64"], ["gnu", "glibc"], ["gnueabihf", "glibc"], [
  "musleabihf",
  "musl"
]])
const systems = new Set("aix android darwin freebsd linux netbsd openbsd openharmony sunos win32".split(" "))
const processors = new Set("arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64".split(" "))
const libraries = new Set(["glibc", "musl"])

const platformOf = (name: string): Pick<Entry, "os" | "cpu" | "libc"> => {
  const words = name.split(/[-/]/).map((word) => aliases.get(word) ?? word)
  const os = words.find((word) => systems.has(word))
  const cpu = words.find((word) => processors.has(word))
  const libc = os === "linux" ? words.find((word) => libraries.has(word)) : undefined
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }) }
}

const path = resolve(import.meta.dirname, "../package-lock.json")
const lock = JSON.parse(await readFile(path, "utf8"))
const entries: Record<string, Entry> = lock.packages

const added: Array<string> = []
for (const [parent, entry] of Object.entries(entries)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const hoisted = `node_modules/${name}`
    if (hoisted in entries || `${parent}/node_modules/${name}` in entries) continue
    const platform = platformOf(name)
    // Without a platform npm would install it here; a range would be a guess at a version.
    if (platform.os === undefined || !/^\d+\.\d+\.\d+[^\s]*$/.test(version)) {
      throw new Error(`${parent} requires ${name}@${version}, which the lock lacks and whose name contains no platform`)
    }
    entries[hoisted] = { version, ...platform, ...(entry.dev === true && { dev: true }), optional: true }
    added.push(`${name}@${version}`)
  }
}
if (added.length > 0) {
  const byPath = Object.entries(entries).toSorted(([a], [b]) => a.localeCompare(b, "en"))
  await writeFile(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(byPath) }, null, 2)}\n`)
}
console.log(
  added.length === 0 ? "The lock is complete" : `Added ${added.length} packages of other platforms to the lock`
)
