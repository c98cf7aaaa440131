/** Projects of readers, which install the packed tarballs with npm and with pnpm. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expectSuccess, root } from "./commands.ts"
import { compilers, folderOf, type Installation, type PackedReadme, write } from "./packBlocks.ts"

/** Where `npm` installs the compilers and the oldest Node, besides the packages. */
export const npmFolder = "npm"

/** The name under which the oldest supported Node is installed. */
export const oldestNode = "node-22"

/**
 * Installs with each manager in a folder of `directory`. Neither folder contains the other, since Node searches the folders
 * above for packages. `tarballs` are the paths of the packed packages by name.
 */
export const installAll = async (
  readmes: ReadonlyArray<PackedReadme>,
  tarballs: ReadonlyMap<string, string>,
  directory: string
): Promise<ReadonlyArray<Installation>> => {
  const versionOf = await readVersions()
  const installations = [
    { manager: "npm", directory: join(directory, npmFolder) },
    { manager: "pnpm", directory: join(directory, "pnpm") }
  ] as const
  for (const { directory: folder } of installations) await write(readmes, folder)
  const [npm, pnpm] = installations
  await Promise.all([
    installWithNpm(readmes, { directory: npm.directory, tarballs, versionOf }),
    installWithPnpm(readmes.filter(({ blocks }) => blocks.length > 0), {
      directory: pnpm.directory,
      store: join(directory, "links"),
      tarballs,
      versionOf
    })
  ])
  return installations
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Options {
  readonly directory: string
  readonly tarballs: ReadonlyMap<string, string>
  readonly versionOf: VersionOf
}

/** The version of a package of others, as this workspace has it installed. */
type VersionOf = (name: string) => string | undefined

const readVersions = async (): Promise<VersionOf> => {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"))
  return (name) => packages[`node_modules/${name}`]?.version
}

/** One project that has all tarballs, so that packages find each other there and not in a registry. */
const installWithNpm = async (
  readmes: ReadonlyArray<PackedReadme>,
  { directory, tarballs, versionOf }: Options
): Promise<void> => {
  const installed = readmes.flatMap((readme) => readme.installed)
  const dependencies = {
    ...versions(["effect", ...installed].filter((name) => !tarballs.has(name)), versionOf),
    ...Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`])),
    ...Object.fromEntries(compilers.map((version) => [`typescript-${version}`, `npm:typescript@${version}`])),
    // The package `node` installs this one by a script, and scripts of packages do not run here.
    [oldestNode]: `npm:node-${process.platform.replace("win32", "win")}-${process.arch}@22`
  }
  await writeManifest(directory, dependencies)
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
  await expectSuccess("npm", ["install", ...flags], directory)
}

/**
 * A project for each README, with exactly what the README installs. Each has a lock file of its own, so that a package finds
 * no optional peer that another README installs. All link to the same `store`, so that compilers read each package once. In
 * such a store, a package finds only what it declares.
 */
const installWithPnpm = async (
  readmes: ReadonlyArray<PackedReadme>,
  { directory, store, tarballs, versionOf }: Options & { readonly store: string }
): Promise<void> => {
  const settings = {
    packages: ["*"],
    sharedWorkspaceLockfile: false,
    enableGlobalVirtualStore: true,
    virtualStoreDir: store,
    // Published packages would come from the registry; these are not published yet.
    overrides: Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`])),
    minimumReleaseAge: 0
  }
  // JSON is YAML.
  await writeFile(join(directory, "pnpm-workspace.yaml"), JSON.stringify(settings, null, 2))
  // For the compiler.
  await writeManifest(directory, versions([], versionOf))
  for (const { installed, name } of readmes) {
    const own = installed.filter((self) => tarballs.has(self)).map((self) => [self, "*"])
    const others = versions(installed.filter((self) => !tarballs.has(self)), versionOf)
    await writeManifest(join(directory, folderOf(name)), { ...Object.fromEntries(own), ...others })
  }
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-frozen-lockfile", "--reporter=append-only"]
  await expectSuccess("pnpm", ["install", ...flags], directory)
}

const writeManifest = (directory: string, dependencies: Readonly<Record<string, string>>): Promise<void> =>
  writeFile(join(directory, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }, null, 2))

/** Packages of others with their types, and those of Node. */
const versions = (names: ReadonlyArray<string>, versionOf: VersionOf): Readonly<Record<string, string>> => {
  const typed = names.map((name) => `@types/${name}`).filter((name) => versionOf(name) !== undefined)
  return Object.fromEntries([...names, ...typed, "@types/node"].map((name) => {
    const version = versionOf(name)
    if (version === undefined) throw new Error(`This workspace has no ${name}, which a README installs`)
    return [name, version]
  }))
}
