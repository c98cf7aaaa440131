/**
 * Bundles the entry points of packages for programs without Effect, in place of what the compiler wrote. Each contains
 * what it uses of `effect` and of other packages of this repository. Otherwise such a program would load and keep all
 * modules that `effect` imports anywhere, of which it uses a fifth.
 *
 *     node tools/promiseBundles.ts    # in all compiled packages
 */
import { access, glob, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { type OutputAsset, type OutputChunk, rolldown } from "rolldown"

/** Names of the modules of a package that need no Effect, if it has them. */
const entryPoints = ["promise", "http", "express", "fastify", "hono"]

/** The file in the folder of a bundle with the licenses of what it contains. */
const licensesFile = "bundled-licenses.txt"

/** Writes the bundles of those of the packages that have a promise API for programs. */
export const bundleAll = async (directories: ReadonlyArray<string>): Promise<void> => {
  for (const directory of directories) {
    // The promise API of `persistence` is for other packages, and they contain it.
    if (basename(directory) !== "persistence") await bundle(directory)
  }
}

/**
 * Writes the bundles of a package into a folder. Packages without a promise API have none. Rejects if a bundle imports what
 * the package does not declare.
 */
export const bundle = async (directory: string, output = join(directory, "dist")): Promise<void> => {
  const present = await Promise.all(entryPoints.map((name) => exists(join(directory, "src", `${name}.ts`))))
  if (!present[0]) return
  const files = await build(directory, entryPoints.filter((_, index) => present[index]))
  // A process may load them meanwhile, so chunks are written before the entry points, and those of earlier builds removed last.
  const inOrder = files.toSorted((a, b) => Number(!isChunk(a.fileName)) - Number(!isChunk(b.fileName)))
  for (const file of inOrder) await write(join(output, file.fileName), file.type === "asset" ? file.source : file.code)
  const names = new Set(files.map(({ fileName }) => fileName))
  for await (const name of glob(`${chunksFolder}/*`, { cwd: output })) {
    if (!names.has(name)) await rm(join(output, name))
  }
  await write(join(output, licensesFile), await licensesOf(files))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Output = ReadonlyArray<OutputAsset | OutputChunk>

/** The folder of what several entry points share. Modules below `internal` cannot be imported. */
const chunksFolder = "internal/bundled"

const isChunk = (fileName: string): boolean => fileName.startsWith(chunksFolder)

const build = async (directory: string, names: ReadonlyArray<string>): Promise<Output> => {
  const declared = declaredIn(JSON.parse(await readFile(join(directory, "package.json"), "utf8")))
  const isDeclared = (id: string) => declared.some((name) => id === name || id.startsWith(`${name}/`))
  const bundle = await rolldown({
    cwd: directory,
    input: Object.fromEntries(names.map((name) => [name, join(directory, "src", `${name}.ts`)])),
    platform: "node",
    resolve: { conditionNames: ["@kinora/source", "node", "import"] },
    // Drivers are installed by the program, so what cannot be found from here is not bundled either.
    external: (id) => isDeclared(id) || drivers.has(id)
  })
  const { output } = await bundle.generate({
    chunkFileNames: `${chunksFolder}/[name].js`,
    // The declarations have the documentation.
    comments: { jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
    // Where packages are installed, they are beside each other.
    sourcemapPathTransform: (path) => path.replace(/^((?:\.\.\/)+)node_modules\//, "$1")
  })
  await bundle.close()
  const files = new Set(output.map(({ fileName }) => fileName))
  const undeclared = output
    .flatMap((file) => file.type === "asset" ? [] : [...file.imports, ...file.dynamicImports])
    .filter((id) => !files.has(id) && !id.startsWith("node:") && !isDeclared(id))
  if (undeclared.length > 0) throw new Error(`${directory} does not declare ${undeclared.join(", ")}`)
  return output
}

/** Drivers of databases. A package that loads one declares it as an optional peer. */
const drivers = new Set(["pg"])

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Names of the packages that are installed with a package, without those that its bundles contain. */
const declaredIn = ({ dependencies, peerDependencies }: Manifest): ReadonlyArray<string> =>
  Object.keys({ ...dependencies, ...peerDependencies }).filter((name) =>
    name !== "effect" && !name.startsWith("@kinora/")
  )

/** Replaces a file at once, since another process may be reading it. */
const write = async (path: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.${process.pid}`, content)
  await rename(`${path}.${process.pid}`, path)
}

const licensesOf = async (output: Output): Promise<string> => {
  const modules = output.flatMap((file) => file.type === "asset" ? [] : file.moduleIds)
  const packages = new Set(modules.flatMap((id) => packageFolder.exec(id)?.[0] ?? []))
  const texts = await Promise.all(
    [...packages].toSorted().map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
        readonly name: string
        readonly version: string
      }
      return `${name} ${version}\n\n${(await licenseOf(folder)).trim()}\n`
    })
  )
  return `The promise API contains parts of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}

/** The path to the folder of an installed package, at the start of the path of its module. */
const packageFolder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/

/** Returns the license file of a package, or the end of its README from the heading of the license. */
const licenseOf = async (folder: string): Promise<string> => {
  for await (const file of glob("{LICENSE,license}*", { cwd: folder })) {
    return readFile(join(folder, file), "utf8")
  }
  const [, license] = /^#+ license\s+(.*)/ims.exec(await readFile(join(folder, "README.md"), "utf8")) ?? []
  if (license === undefined) throw new Error(`${folder} has no license`)
  return license
}

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false)

if (import.meta.main) {
  const directories: Array<string> = []
  for await (const manifest of glob("packages/*/package.json")) directories.push(resolve(dirname(manifest)))
  await bundleAll(directories)
}
