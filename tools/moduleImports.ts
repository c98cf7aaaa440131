/**
 * Replaces, in compiled files, imports of the entry points of `effect` by imports of its modules: `effect/Effect` instead
 * of `Effect` of `effect`. Node loads every module behind an entry point, also those that nobody uses, so a package that
 * is imported starts faster and holds less memory.
 *
 *     node tools/moduleImports.ts    # in all compiled packages
 */
import { glob, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** Replaces imports in the modules of these folders. Folders that do not exist, and modules without them, stay as they are. */
export const rewriteAll = async (folders: ReadonlyArray<string>): Promise<void> => {
  for (const folder of folders) {
    const files = await readdir(folder, { recursive: true }).catch(() => [])
    for (const file of files.filter((file) => file.endsWith(".js"))) {
      const path = join(folder, file)
      const code = await readFile(path, "utf8")
      const rewritten = await rewrite(code)
      if (rewritten === code) continue
      // Another process may be reading the file.
      await writeFile(`${path}.new`, rewritten)
      await rename(`${path}.new`, path)
    }
  }
}

/**
 * Returns the code of a compiled module with imports of modules of `effect`. The number of lines stays, so that source
 * maps hold. Throws if a name is not a module of its entry point, and not in `effect/Function`.
 */
export const rewrite = async (code: string): Promise<string> => {
  const imports = [...code.matchAll(entryPointImport)]
  const replacements = await Promise.all(
    imports.map(([, names = "", entryPoint = ""]) => importsOf(names.split(",").map((name) => name.trim()), entryPoint))
  )
  return code.replace(entryPointImport, () => replacements.shift() ?? "")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `import { Effect, Array as Arr } from "effect";`, as the compiler prints it, also of `effect/sql`. */
const entryPointImport = /^import \{ ([^}]+) \} from "(effect(?:\/[a-z][\w-]*)?)";/gm

const importsOf = async (names: ReadonlyArray<string>, entryPoint: string): Promise<string> => {
  const exported = await import(entryPoint) as Readonly<Record<string, unknown>>
  const lines = await Promise.all(names.map(async (text) => {
    const [name = "", alias = name] = text.split(" as ")
    const path = `${entryPoint}/${name}`
    if (await isModule(exported[name], path)) return `import * as ${alias} from "${path}";`
    const functions = await import("effect/Function") as Readonly<Record<string, unknown>>
    if (exported[name] !== undefined && exported[name] === functions[name]) {
      return `import { ${text} } from "effect/Function";`
    }
    throw new Error(`${name} of ${entryPoint} is not a module, and not in effect/Function`)
  }))
  return lines.join(" ")
}

/** Returns whether an export of an entry point is the namespace of the module at this path. */
const isModule = async (exported: unknown, path: string): Promise<boolean> =>
  Object(exported)[Symbol.toStringTag] === "Module" && exported === await import(path)

if (import.meta.main) {
  const folders: Array<string> = []
  for await (const folder of glob("{packages,hosts}/*/dist")) folders.push(folder)
  await rewriteAll(folders)
}
