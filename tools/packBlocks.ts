/** All TypeScript of READMEs, compiled from packed tarballs as a reader compiles it. */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./commands.ts"
import * as readmeBlocks from "./readmeBlocks.ts"

/** The blocks of one README. */
export interface PackedReadme {
  /** The package. */
  readonly name: string
  /** The directory of the package. */
  readonly directory: string
  readonly blocks: ReadonlyArray<readmeBlocks.ReadmeBlock>
  /** The packages that it installs. */
  readonly installed: ReadonlyArray<string>
}

/** A folder that has a folder for each README, with its blocks. */
export interface Installation {
  readonly manager: "npm" | "pnpm"
  readonly directory: string
}

/** The versions that a reader may have: the last one that is written in JavaScript, and the one of this workspace. */
export const compilers = ["5.9", "7.0"]

/**
 * The path of a configuration of Vitest from the folder of a README. A new project has none, so it is empty, except that tests
 * have more time on a machine that does other work.
 */
export const vitestConfig = "../vitest.config.mjs"

/** The folder of a README in an installation. */
export const folderOf = (name: string): string => name.replace("@kinora/", "")

/** Reads the blocks of a package's README. */
export const read = async (
  { directory, name }: { readonly name: string; readonly directory: string }
): Promise<PackedReadme> => {
  const markdown = await readFile(join(directory, "README.md"), "utf8")
  return { name, directory, blocks: readmeBlocks.read(markdown), installed: readmeBlocks.installed(markdown) }
}

/** Writes the blocks into a folder per README, with the files of `example` that they import and the README links. */
export const write = async (readmes: ReadonlyArray<PackedReadme>, directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true })
  for (const { blocks, directory: source, name } of readmes.filter((readme) => readme.blocks.length > 0)) {
    const folder = join(directory, folderOf(name))
    await mkdir(folder)
    for (const { code, file } of blocks) await writeFile(join(folder, file), code)
    const files = new Set(blocks.map(({ file }) => `./${file}`))
    const linked = blocks.flatMap(({ specifiers }) =>
      specifiers.filter((self) => self.startsWith("./") && !files.has(self))
    )
    for (const file of linked) await cp(join(source, "example", file), join(folder, file))
  }
  await writeFile(join(directory, "any-readme", vitestConfig), "export default { test: { testTimeout: 60_000 } }\n")
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(tsconfig, null, 2))
}

/**
 * Compiles all blocks of an installation with each version of TypeScript, which `compilersIn` has. Returns the errors by the
 * name of the package.
 */
export const compile = async (
  readmes: ReadonlyArray<PackedReadme>,
  { directory, manager }: Installation,
  compilersIn: string
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const outputs = await Promise.all(compilers.map(async (version) => {
    const tsc = join(compilersIn, "node_modules", `typescript-${version}`, "bin/tsc")
    const { output, passed } = await run("node", [tsc, "--pretty", "false"], directory)
    const errors = output.split(/\n(?=\S)/).filter((text) => text !== "")
    // An error elsewhere, such as in a declaration of another package, is one of every README.
    const general = errors.filter((text) => !readmes.some(({ name }) => text.startsWith(`${folderOf(name)}/`)))
    return { version, errors, general, failed: !passed }
  }))
  return new Map(readmes.map(({ name }) => [
    name,
    outputs.flatMap(({ errors, failed, general, version }) => {
      const own = errors.filter((text) => text.startsWith(`${folderOf(name)}/`))
      return failed ? [...own, ...general].map((text) => `${manager}, TypeScript ${version}: ${text}`) : []
    })
  ]))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The options that `tsc --init` proposes, for a project of Node. */
const tsconfig = {
  include: ["*/*.ts"],
  compilerOptions: {
    target: "ESNext",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    moduleDetection: "force",
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    // Declarations of drizzle-orm and effect have errors without the packages and libraries that they use.
    skipLibCheck: true
  }
}
