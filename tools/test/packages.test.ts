/** The files and fields that every public package has in its tarball. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "vitest"
import { publicPackages, root } from "./publicPackages.ts"

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
