import { readdir, readFile } from "node:fs/promises"
import { join, resolve } from "node:path"

/** The directory of the repository. */
export const root = resolve(import.meta.dirname, "../..")

/** The fields of a `package.json` that tests read. */
interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: ReadonlyArray<string>
  readonly license?: string
  readonly sideEffects?: unknown
  readonly engines?: unknown
  readonly files?: ReadonlyArray<string>
}

/** Returns the packages that are published, with their directories. */
export const publicPackages = async () => {
  const folders = await Promise.all(
    ["packages", "hosts"].map(async (parent) =>
      (await readdir(join(root, parent))).map((name) => join(root, parent, name))
    )
  )
  const packages = await Promise.all(
    folders.flat().map(async (directory) => {
      const text = await readFile(join(directory, "package.json"), "utf8").catch(() => undefined)
      return text === undefined ? undefined : { directory, manifest: JSON.parse(text) as Manifest }
    })
  )
  return packages.filter((one) => one !== undefined).filter(({ manifest }) => manifest.private !== true)
}
