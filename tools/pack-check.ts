/**
 * Checks every public package as its users get it: packed, installed in another project, imported by a plain `node`.
 * In the workspace the condition `@kinora/source` hides what a tarball lacks.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { expectSuccess, run } from "./commands.ts"
import { inParallel } from "./inParallel.ts"
import * as lintTarball from "./lintTarball.ts"
import * as moduleImports from "./moduleImports.ts"
import * as packBlocks from "./packBlocks.ts"
import * as packedTemplate from "./packedTemplate.ts"
import { checkImports, type Imports, type Modules } from "./packImports.ts"
import { installAll, npmFolder } from "./packInstalls.ts"
import * as packRuns from "./packRuns.ts"
import * as promiseBundles from "./promiseBundles.ts"
import * as servedPages from "./servedPages.ts"

const help = `Usage: npm run pack:check [-- options] [package...]

Builds and packs all public packages, then checks each (or those named, with or without "@kinora/"):

  publint   the tarball's manifest and files, warnings included (publint --strict)
  types     every entry point resolves to types for ES modules (arethetypeswrong)
  import    every entry point loads in node, from the tarball installed with its dependencies, except
            "testing", which only Vitest loads, and imports modules of effect, not its entry points
  private   nothing under ./internal can be imported
  compile   every "ts" block of the README compiles with TypeScript 5.9 and 7.0, installed with npm, and installed with
            pnpm in a project that has only what the README installs
  run       every block runs in both projects, on Node 22 and on the Node of this repository, and prints what the
            README says, or passes if it is a test
  program   each command of the package prints its help
  pages     of the console: a server that is installed from tarballs serves it
  template  of pglite and hosting: a new database is a copy of the template in the tarball

Options:
  --json    one JSON document on standard output; progress goes to standard error
  --help    this text

Exit code: 0 all passed, 1 a check failed, 2 wrong usage.
`

/** The package that has files and no modules. */
const consoleName = "@kinora/console"

/** The packages that have a template of databases, with their checks. */
const templates: ReadonlyMap<string, (directory: string) => Promise<ReadonlyArray<string>>> = new Map([
  ["@kinora/pglite", packedTemplate.problemsOf],
  ["@kinora/hosting", packedTemplate.problemsOfHosts]
])

interface Package extends Modules {
  readonly version: string
  readonly directory: string
  /** Names of its programs. */
  readonly programs: ReadonlyArray<string>
}

interface Check {
  readonly name: "publint" | "types" | "import" | "private" | "compile" | "run" | "program" | "pages" | "template"
  readonly passed: boolean
  /** The output of the tool if it failed; empty otherwise. */
  readonly output: string
}

interface Report {
  readonly package: string
  readonly version: string
  readonly files: number
  readonly bytes: number
  readonly entryPoints: number
  /** Blocks of the README that are compiled and not run, with the reason. */
  readonly notRun: ReadonlyArray<string>
  readonly checks: ReadonlyArray<Check>
}

interface Packed {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly entryCount: number
}

const main = async (): Promise<number> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean", default: false }, json: { type: "boolean", default: false } }
  })
  if (values.help) {
    console.log(help)
    return 0
  }
  const say = values.json ? console.error : console.log
  const all = await findPublicPackages()
  const chosen = choose(all, positionals)

  say(`Building ${all.length} packages`)
  await expectSuccess("tsc", ["-b", ...all.map(({ directory }) => directory)])
  await moduleImports.rewriteAll(all.map(({ directory }) => join(directory, "dist")))
  await promiseBundles.bundleAll(all.map(({ directory }) => directory))
  await expectSuccess("npm", ["run", "build", "--workspace", consoleName])
  await expectSuccess("npm", ["run", "template", ...[...templates.keys()].flatMap((name) => ["--workspace", name])])
  const directory = await mkdtemp(join(tmpdir(), "kinora-pack-"))
  // The examples load the same dependencies.
  process.env["NODE_COMPILE_CACHE"] = join(directory, "compiled")
  try {
    say(`Packing ${all.length} packages`)
    const packed = await pack(all, directory)
    const readmes = await Promise.all(chosen.map(packBlocks.read))
    const tarballs = new Map([...packed].map(([name, { filename }]) => [name, join(directory, filename)]))
    say("Installing the tarballs with npm and with pnpm")
    const installations = await installAll(readmes, tarballs, directory)
    say("Compiling and running the blocks of the READMEs")
    const blocks = await packRuns.checkAll(readmes, installations, directory)
    say(`Checking ${chosen.length} packages\n`)
    const imports = checkImports(
      chosen,
      (script, specifiers) =>
        expectSuccess(
          "node",
          ["--input-type=module", "--eval", script, ...specifiers],
          join(directory, npmFolder)
        )
    )
    const reports = await inParallel(chosen, async (self) => {
      const report = await check(self, packed.get(self.name)!, { imports, blocks, directory })
      say(describe(report))
      return report
    })
    const failed = reports.filter((report) => report.checks.some((check) => !check.passed))
    if (values.json) console.log(JSON.stringify({ passed: failed.length === 0, packages: reports }, null, 2))
    say(`\n${reports.length - failed.length} passed, ${failed.length} failed`)
    return failed.length === 0 ? 0 : 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const findPublicPackages = async (): Promise<ReadonlyArray<Package>> => {
  const workspaces = JSON.parse(await expectSuccess("npm", ["query", ".workspace"])) as ReadonlyArray<{
    readonly name: string
    readonly version: string
    readonly path: string
    readonly private?: boolean
    readonly exports: Readonly<Record<string, unknown>>
    readonly bin?: Readonly<Record<string, string>>
  }>
  return Promise.all(
    workspaces.filter((manifest) => manifest.private !== true).map(async ({ bin, exports, name, path, version }) => {
      const modules = "./*" in exports ? await modulesIn(path, "src") : []
      return {
        name,
        version,
        directory: path,
        entryPoints: [...("." in exports ? ["."] : []), ...modules.filter((module) => exports[module] !== null)],
        internals: (await modulesIn(path, "src/internal")).map((module) => module.replace(".", "./internal")),
        programs: Object.keys(bin ?? {})
      }
    })
  )
}

/** `./X` for each `X.ts` of a folder; a manifest's `exports` names them by one pattern. */
const modulesIn = async (path: string, folder: string): Promise<ReadonlyArray<string>> => {
  const files = await readdir(join(path, folder)).catch(() => [])
  return files.filter((file) => file.endsWith(".ts")).map((file) => `./${file.slice(0, -".ts".length)}`).toSorted()
}

const choose = (all: ReadonlyArray<Package>, names: ReadonlyArray<string>): ReadonlyArray<Package> =>
  names.length === 0 ? all : names.map((name) => {
    const found = all.find((self) => self.name === name || self.name === `@kinora/${name}`)
    if (found === undefined) throw new UsageError(`There is no public package ${name}.`)
    return found
  })

/** Packs all, also where few are chosen: they depend on each other. */
const pack = async (all: ReadonlyArray<Package>, directory: string): Promise<ReadonlyMap<string, Packed>> => {
  const workspaces = all.flatMap(({ name }) => ["--workspace", name])
  // The scripts of packages are left out: they build what is built by now, and print into the JSON.
  const flags = ["--json", "--ignore-scripts", "--pack-destination", directory]
  const output = await expectSuccess("npm", ["pack", ...flags, ...workspaces])
  const packed = JSON.parse(output) as ReadonlyArray<Packed> | Readonly<Record<string, Packed>>
  return new Map(Object.values(packed).map((self) => [self.name, self]))
}

const check = async (
  self: Package,
  packed: Packed,
  context: { readonly imports: Promise<Imports>; readonly blocks: packRuns.Blocks; readonly directory: string }
): Promise<Report> => {
  const { blocks, directory } = context
  const tarball = await readFile(join(directory, packed.filename))
  const npm = join(directory, npmFolder)
  const { failed, internals } = await context.imports
  const template = templates.get(self.name)
  return {
    package: self.name,
    version: self.version,
    files: packed.entryCount,
    bytes: packed.size,
    entryPoints: self.entryPoints.length,
    notRun: blocks.notRun.get(self.name) ?? [],
    checks: [
      listed("publint", await lintTarball.inManifest(tarball)),
      listed("types", self.entryPoints.length === 0 ? [] : await lintTarball.inTypes(tarball, self.entryPoints)),
      listed("import", failed.get(self.name)!),
      listed("private", internals.get(self.name)!),
      ...blocksOf(self, blocks),
      ...await checkPrograms(self.programs, npm),
      ...(self.name === consoleName ? [listed("pages", await servedPages.problemsOf(npm))] : []),
      ...(template === undefined ? [] : [listed("template", await template(npm))])
    ]
  }
}

/** A check that passed if there is no problem. */
const listed = (name: Check["name"], problems: ReadonlyArray<string>): Check => ({
  name,
  passed: problems.length === 0,
  output: problems.join("\n")
})

/** Runs each program of the project in `directory` with `--help`, as `npx` does. */
const checkPrograms = (programs: ReadonlyArray<string>, directory: string): Promise<ReadonlyArray<Check>> =>
  Promise.all(programs.map(async (program) => {
    const { output, passed, stdout } = await run(join(directory, "node_modules/.bin", program), ["--help"], directory)
    return { name: "program", passed: passed && stdout.includes(program), output }
  }))

/** Returns no checks for the README of a package that nobody imports, unless it has blocks. */
const blocksOf = ({ name, programs }: Package, { compiled, ran }: packRuns.Blocks): ReadonlyArray<Check> => {
  if (compiled.has(name)) return [listed("compile", compiled.get(name)!), listed("run", ran.get(name)!)]
  return programs.length > 0 || name === consoleName ? [] : [listed("compile", ["The README has no `ts` block"])]
}

const describe = (report: Report): string => {
  const marks = report.checks.map((check) => `${check.passed ? "✔" : "✘"} ${check.name}`).join("  ")
  const size = `${report.entryPoints} entries, ${report.files} files, ${Math.ceil(report.bytes / 1024)} KiB`
  const failures = report.checks.filter((check) => !check.passed)
  return [
    `${marks}  ${report.package.padEnd(30)} ${size}`,
    ...report.notRun.map((reason) => `    not run: ${reason}`),
    ...failures.map((check) => `\n${check.name}:\n${check.output.replaceAll(/^/gm, "    ")}\n`)
  ].join("\n")
}

class UsageError extends Error {}

try {
  process.exitCode = await main()
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error)
  console.error(error instanceof Error ? error.message : error)
  if (isUsage) console.error("Try --help.")
  process.exitCode = isUsage ? 2 : 1
}
