/**
 * The first example of each README, run from packed tarballs as a reader runs it: installed with pnpm by the README's own
 * command, in a project that has nothing else.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { ReadmeExample } from "./readmeExample.ts"

/** An example to run. */
export interface PackedExample extends ReadmeExample {
  /** The package whose README has the example. */
  readonly name: string
}

/** Runs a command in a directory. */
export type Run = (
  command: string,
  args: ReadonlyArray<string>,
  directory: string
) => Promise<{ readonly passed: boolean; readonly stdout: string; readonly output: string }>

/** The versions of other packages, as this workspace has them installed. */
export const readVersions = async (root: string): Promise<(name: string) => string | undefined> => {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"))
  return (name) => packages[`node_modules/${name}`]?.version
}

/**
 * Makes a pnpm workspace with one project per example and installs all at once. Unlike npm, pnpm lets a project import
 * only what it has installed by name. `tarballs` are the paths of the packed packages, relative to the workspace.
 */
export const installWithPnpm = async (options: {
  readonly directory: string
  readonly examples: ReadonlyArray<PackedExample>
  readonly tarballs: ReadonlyMap<string, string>
  readonly versionOf: (name: string) => string | undefined
  readonly run: Run
}): Promise<void> => {
  const { directory, examples, run, tarballs, versionOf } = options
  const expectVersion = (name: string) => {
    const version = versionOf(name)
    if (version === undefined) throw new Error(`This workspace has no ${name}, which a README installs`)
    return version
  }
  const settings = {
    packages: ["*"],
    // Published packages would come from the registry; these are not published yet.
    overrides: Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`])),
    minimumReleaseAge: 0
  }
  await mkdir(directory, { recursive: true })
  // JSON is YAML.
  await writeFile(join(directory, "pnpm-workspace.yaml"), JSON.stringify(settings, null, 2))
  await writeFile(join(directory, "package.json"), JSON.stringify({ private: true }))
  for (const { code, name, packages } of examples) {
    const dependencies = Object.fromEntries(
      packages.map((self) => [self, tarballs.has(self) ? "*" : expectVersion(self)])
    )
    const project = join(directory, folderOf(name))
    await mkdir(project)
    await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
    await writeFile(join(project, "example.ts"), code)
  }
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-frozen-lockfile", "--reporter=append-only"]
  const { output, passed } = await run("pnpm", ["install", ...flags], directory)
  if (!passed) throw new Error(`\`pnpm install\` of the packages that the READMEs name failed:\n${output}`)
}

/** The folder of an example's project in the pnpm workspace. */
export const folderOf = (name: string): string => name.replace("@kinora/", "")

/** Runs an example by Node alone, which strips its types. An example that prints nothing has failed. */
export const runExample = async (file: string, directory: string, run: Run) => {
  const { output, passed, stdout } = await run("node", [file], directory)
  if (passed && stdout.trim() === "") return { passed: false, output: "The example printed nothing" }
  return { passed, output: passed ? "" : output }
}
