/**
 * Bundles programs. A host from source loads more than a thousand modules, which takes two seconds of processor time at
 * every start.
 */
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from "rolldown"
import { repository } from "./repository.ts"

/** A bundle. */
export interface Bundle {
  /** The program `hosts/server/src/main.ts` is `hosts/server/src/main.js` below this directory. */
  readonly directory: string
  /** Absolute paths of the sources of this repository that it contains. */
  readonly sources: ReadonlyArray<string>
}

/** Options for `bundle`. */
export interface BundleOptions {
  /** Sources of the programs, relative to the repository. */
  readonly programs: ReadonlyArray<string>
  /** Directory of the bundles. Those that nobody made for `days` are removed. */
  readonly cache: string
  readonly days: number
}

/** Bundles the programs into a directory of `cache` that their content names. */
export const bundle = async ({ cache, days, programs }: BundleOptions): Promise<Bundle> => {
  const output = await build(programs)
  const files = output.map(fileOf).filter((file) => file !== undefined)
  // Otherwise Node parses each file twice, to find out that it is a module.
  files.push({ name: "package.json", content: JSON.stringify({ type: "module" }) })
  const hash = createHash("sha256")
  for (const { content, name } of files) hash.update(name).update(content)
  const directory = join(cache, hash.digest("hex").slice(0, 16))
  await mkdir(cache, { recursive: true })
  await removeOld(cache, days)
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
  return { directory, sources: sourcesOf(output) }
}

/**
 * Returns the paths of the modules that each program loads at its start, by the program: what its own module imports, also by
 * `import()`, and what these modules import. What they load later with `import()` is left out.
 */
export const modulesAtStart = async (
  programs: ReadonlyArray<string>
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const chunks = new Map(
    (await build(programs)).flatMap((file) => file.type === "asset" ? [] : [[file.fileName, file]])
  )
  return new Map(programs.map((program) => {
    const main = chunks.get(program.replace(/\.ts$/, ".js"))
    const loaded = new Set(main === undefined ? [] : [main.fileName, ...main.dynamicImports])
    // A set that grows is iterated to its end.
    for (const name of loaded) for (const imported of chunks.get(name)?.imports ?? []) loaded.add(imported)
    return [program, [...loaded].flatMap((name) => chunks.get(name)?.moduleIds ?? [])]
  }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Output = ReadonlyArray<OutputAsset | OutputChunk>

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

const build = async (programs: ReadonlyArray<string>): Promise<Output> => {
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
      groups: [{ name: dependencies, test: isDependency, entriesAware: true }]
    }
  })
  await build.close()
  return output
}

const isDependency = /[\\/]node_modules[\\/]/

const fileOf = (file: OutputAsset | OutputChunk) => {
  const isOfDependencies = file.fileName.startsWith(dependencies)
  if (file.type === "asset") return isOfDependencies ? undefined : { name: file.fileName, content: file.source }
  const content = isOfDependencies ? file.code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n") : file.code
  return { name: file.fileName, content }
}

const sourcesOf = (output: Output): ReadonlyArray<string> =>
  output.flatMap((file) => file.type === "asset" ? [] : file.moduleIds).filter((id) =>
    id.startsWith(repository) && !isDependency.test(id)
  )

/** Removes bundles that no run of the last days made. */
const removeOld = async (cache: string, days: number): Promise<void> => {
  const oldest = Date.now() - days * 24 * 3_600_000
  for (const name of await readdir(cache)) {
    // Another process may have renamed or removed it meanwhile.
    const stats = await stat(join(cache, name)).catch(() => undefined)
    if (stats !== undefined && stats.mtimeMs < oldest) await rm(join(cache, name), { recursive: true, force: true })
  }
}
