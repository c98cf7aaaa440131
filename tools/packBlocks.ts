/** All TypeScript of READMEs, compiled and run from packed tarballs as a reader compiles and runs it. */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./commands.ts"
import { folderOf } from "./packExamples.ts"
import * as readmeBlocks from "./readmeBlocks.ts"

/** The blocks of one README. */
export interface PackedReadme {
  /** The package. */
  readonly name: string
  /** The directory of the package. */
  readonly directory: string
  readonly blocks: ReadonlyArray<readmeBlocks.ReadmeBlock>
  /** The words after each `npm install`. */
  readonly installed: ReadonlyArray<string>
}

/** The folder that has a folder of blocks for each README. */
export const blocksFolder = "blocks"

/** The name under which the oldest supported Node is installed. */
export const oldestNode = "node-22"

/** Reads the blocks of a package's README. */
export const read = async (
  { directory, name }: { readonly name: string; readonly directory: string }
): Promise<PackedReadme> => {
  const markdown = await readFile(join(directory, "README.md"), "utf8")
  return { name, directory, blocks: readmeBlocks.read(markdown), installed: readmeBlocks.installed(markdown) }
}

/** The packages that READMEs install or import with their types, the compilers and the oldest Node, with versions. */
export const dependencies = (
  readmes: ReadonlyArray<PackedReadme>,
  versionOf: (name: string) => string | undefined
): Readonly<Record<string, string>> => {
  const imported = readmes.flatMap(({ blocks, installed }) => [
    ...installed,
    ...blocks.flatMap(({ specifiers }) => specifiers.flatMap((specifier) => readmeBlocks.packageOf(specifier) ?? []))
  ])
  const typed = imported.map((name) => `@types/${name}`).filter((name) => versionOf(name) !== undefined)
  return {
    ...Object.fromEntries(
      ["effect", ...imported, ...typed, "@types/node"].flatMap((name) => {
        const version = versionOf(name)
        return version === undefined ? [] : [[name, version]]
      })
    ),
    ...Object.fromEntries(compilers.map((version) => [`typescript-${version}`, `npm:typescript@${version}`])),
    // The package `node` installs this one by a script, and scripts of packages do not run here.
    [oldestNode]: `npm:node-${process.platform.replace("win32", "win")}-${process.arch}@22`
  }
}

/** Writes the blocks into a folder per README, with the files of `example` that they import and the README links. */
export const write = async (readmes: ReadonlyArray<PackedReadme>, directory: string): Promise<void> => {
  for (const { blocks, directory: source, name } of readmes) {
    const folder = join(directory, blocksFolder, folderOf(name))
    await mkdir(folder, { recursive: true })
    for (const { code, file } of blocks) await writeFile(join(folder, file), code)
    const files = new Set(blocks.map(({ file }) => `./${file}`))
    const linked = blocks.flatMap(({ specifiers }) =>
      specifiers.filter((self) => self.startsWith("./") && !files.has(self))
    )
    for (const file of linked) await cp(join(source, "example", file), join(folder, file))
  }
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(tsconfig, null, 2))
}

/** Compiles all blocks with each version of TypeScript. Returns the errors by the name of the package. */
export const compile = async (
  readmes: ReadonlyArray<PackedReadme>,
  directory: string
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const outputs = await Promise.all(compilers.map(async (version) => {
    const tsc = join(directory, "node_modules", `typescript-${version}`, "bin/tsc")
    const { output, passed } = await run("node", [tsc, "--pretty", "false"], directory)
    const errors = output.split(/\n(?=\S)/).filter((text) => text !== "")
    // An error elsewhere, such as in a declaration of another package, is one of every README.
    const general = errors.filter((text) => !text.startsWith(`${blocksFolder}/`))
    return { version, errors, general, failed: !passed }
  }))
  return new Map(readmes.map(({ name }) => [
    name,
    outputs.flatMap(({ errors, failed, general, version }) => {
      const own = errors.filter((text) => text.startsWith(`${blocksFolder}/${folderOf(name)}/`))
      return failed ? [...own, ...general].map((text) => `TypeScript ${version}: ${text}`) : []
    })
  ]))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The versions that a reader may have: the last one that is written in JavaScript, and the one of this workspace. */
const compilers = ["5.9", "7.0"]

/** The options that `tsc --init` proposes, for a project of Node. */
const tsconfig = {
  include: [blocksFolder],
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
