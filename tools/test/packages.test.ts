/** The files and fields that every public package has in its tarball. */
import { readdir, readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { assert, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

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

it("every public package has a description, keywords, a changelog, and the licence of the repository", async () => {
  const licence = await readFile(join(root, "LICENSE"), "utf8")
  const incomplete: Array<string> = []
  for (const { directory, manifest } of await publicPackages()) {
    const { description, engines, files = [], keywords = [], license, name, sideEffects } = manifest
    if (description === undefined || keywords.length < 3 || license !== "Apache-2.0") incomplete.push(name)
    if (engines === undefined || sideEffects === undefined) incomplete.push(name)
    if (!files.includes("CHANGELOG.md")) incomplete.push(`${name}/CHANGELOG.md`)
    const own = await readFile(join(directory, "LICENSE"), "utf8").catch(() => undefined)
    if (own !== licence) incomplete.push(`${name}/LICENSE`)
  }
  assert.deepStrictEqual(incomplete, [])
})

const publicPackages = async () => {
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
