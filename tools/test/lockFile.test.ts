/** Digests in the lock file. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "vitest"
import { root } from "./publicPackages.ts"

interface Entry {
  readonly integrity?: string
  readonly link?: boolean
  readonly optional?: boolean
}

/** Builds for other platforms, which the registry did not serve when they were added (`npm run lock`). Must not grow. */
const withoutDigestMax = 74

it("every package that Linux on x64 installs has a digest in the lock file", async () => {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"))
  const entries = Object.entries<Entry>(packages)
  const without = entries.filter(([path, { integrity, link }]) =>
    path.includes("node_modules/") && link !== true && integrity === undefined
  )
  const required = without.filter(([path, { optional }]) => optional !== true || /linux-x64(?!-musl)/.test(path))
  assert.deepStrictEqual(required.map(([path]) => path), [])
  assert.isAtMost(without.length, withoutDigestMax)
})
