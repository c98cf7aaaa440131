/** The changelogs of packages, which are parts of the one of the repository. `npm run docs:tables` rewrites them. */
import { assert, describe, expect, it } from "@effect/vitest"
import { readdir, readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import * as Changelog from "./Changelog.ts"

const root = resolve(import.meta.dirname, "../../../..")

const publicPackages = async (parent: string) => {
  const folders = (await readdir(join(root, parent))).map((name) => join(root, parent, name))
  const packages = await Promise.all(folders.map(async (directory) => {
    const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as {
      readonly name: string
      readonly private?: boolean
    }
    return { directory, ...manifest }
  }))
  return packages.filter((one) => one.private !== true)
}

it("the changelog of each package has the entries that name it", async () => {
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8")
  const packages = (await Promise.all(["packages", "hosts"].map(publicPackages))).flat()
  assert.isAbove(packages.length, 30)
  for (const { directory, name } of packages) {
    await expect(Changelog.ofPackage(changelog, name)).toMatchFileSnapshot(join(directory, "CHANGELOG.md"))
  }
})

describe("ofPackage", () => {
  const changelog = `# Changelog

About the format.

## [Unreleased]

### Added

- A call of \`@kinora/ledger/promise\`. The [guide](docs/guide.md) and [RFC 9110](https://example.com) have more.
- A call of \`@kinora/ledger-export\`.

### Fixed

- A server.
- The command \`kinora key\`, and not \`kinora-migrate\`, \`kinora.config.json\` or \`kinora_jobs\`.

## [0.2.0]

### Fixed

- A server.

## [0.1.0]

### Changed

- \`Ledger\` of \`@kinora/ledger\`.
- \`Jobs\` of \`@kinora/scheduler\` and \`@kinora/ledger\`.
`

  it("keeps releases and headings with entries that name the package", () => {
    assert.strictEqual(
      Changelog.ofPackage(changelog, "@kinora/ledger"),
      `# Changelog of @kinora/ledger

All packages of Kinora have the same version. A version that is not listed changed nothing in this package.

## [Unreleased]

### Added

- A call of \`@kinora/ledger/promise\`. The guide and [RFC 9110](https://example.com) have more.

## [0.1.0]

### Changed

- \`Ledger\` of \`@kinora/ledger\`.
- \`Jobs\` of \`@kinora/scheduler\` and \`@kinora/ledger\`.
`
    )
  })

  it("does not take the names of other packages, files and metrics for the name of the command", () => {
    assert.strictEqual(
      Changelog.ofPackage(changelog, "kinora").split("\n\n").slice(2).join("\n\n"),
      `## [Unreleased]

### Fixed

- The command \`kinora key\`, and not \`kinora-migrate\`, \`kinora.config.json\` or \`kinora_jobs\`.
`
    )
  })
})
