/**
 * Global setup of the tests: bundles the programs that `Program.start` and the benchmarks start. A host from source loads
 * a thousand modules, which takes a second of processor time at every start. Does nothing if the run starts no program.
 */
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"

const repository = join(import.meta.dirname, "../../..")

/** Sources of the programs, relative to the repository. */
const programs = [
  "hosts/server/src/main.ts",
  "hosts/worker/src/main.ts",
  "hosts/cli/src/main.ts",
  "packages/acceptance/test/webhookDrillHost.process.ts"
]

/** Tests that start them. */
const starters = [
  import.meta.dirname,
  ...["packages/bench/test", "hosts/cli/test/host", "packages/hosting/test/docs/operateTutorial"].map((path) =>
    join(repository, path)
  )
]

/** Vitest's project: what is used of it. */
interface Project {
  readonly vitest: { readonly state: { readonly getPaths: () => ReadonlyArray<string> } }
}

export default async function({ vitest }: Project): Promise<void> {
  // The test files of this run.
  const paths = vitest.state.getPaths()
  if (!starters.some((starter) => paths.some((path) => path.startsWith(starter)))) return
  const directory = await bundle(join(repository, "node_modules/.cache/kinora-programs"))
  // `Program` reads it in Vitest's workers. Hosts reject unknown variables named KINORA_*.
  process.env["ACCEPTANCE_PROGRAMS"] = directory
}

/** Modules find files next to themselves, such as the module of a thread. */
const ownUrls: Plugin = {
  name: "own-urls",
  transform: {
    filter: { code: "import.meta.url" },
    handler: (code, id) => ({
      code: code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
      // No line moves.
      map: null
    })
  }
}

/**
 * Names of the chunks of everything from npm start with this. Their source maps are omitted: Node reads the maps of all
 * loaded modules at the start.
 */
const dependencies = "dependencies"

/** Bundles the programs into a directory of `cache` that their content names, and returns the directory. */
const bundle = async (cache: string): Promise<string> => {
  const build = await rolldown({
    cwd: repository,
    input: Object.fromEntries(programs.map((file) => [file.replace(/\.ts$/, ""), join(repository, file)])),
    platform: "node",
    resolve: { conditionNames: ["@kinora/source", "node", "import"] },
    // Packages with native code or WebAssembly find their files by their own location.
    external: [/^@electric-sql\//, /^@napi-rs\//, "sharp", "h264-mp4-encoder"],
    plugins: [ownUrls]
  })
  const { output } = await build.generate({
    sourcemap: true,
    codeSplitting: {
      // One chunk for all would load what a program imports later or never, which is half of it.
      groups: [{ name: dependencies, test: /[\\/]node_modules[\\/]/, entriesAware: true }]
    }
  })
  await build.close()
  const files = output.flatMap((file) => {
    const isDependencies = file.fileName.startsWith(dependencies)
    if (file.type === "asset") return isDependencies ? [] : [{ name: file.fileName, content: file.source }]
    const content = isDependencies ? file.code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n") : file.code
    return [{ name: file.fileName, content }]
  })
  // Otherwise Node parses each file twice, to find out that it is a module.
  files.push({ name: "package.json", content: JSON.stringify({ type: "module" }) })
  const hash = createHash("sha256")
  for (const { content, name } of files) hash.update(name).update(content)
  const directory = join(cache, hash.digest("hex").slice(0, 16))
  await mkdir(cache, { recursive: true })
  await removeOld(cache)
  const partial = await mkdtemp(join(cache, "partial-"))
  for (const { content, name } of files) {
    await mkdir(dirname(join(partial, name)), { recursive: true })
    await writeFile(join(partial, name), content)
  }
  await rename(partial, directory).catch(async () => {
    // The directory exists, with the same content.
    await rm(partial, { recursive: true })
    await utimes(directory, new Date(), new Date())
  })
  return directory
}

/** Removes bundles that no run of the last day used. */
const removeOld = async (cache: string): Promise<void> => {
  const yesterday = Date.now() - 24 * 3_600_000
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name))
    if (mtimeMs < yesterday) await rm(join(cache, name), { recursive: true, force: true })
  }
}
