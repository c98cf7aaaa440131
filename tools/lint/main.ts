/** The checks of `npm run lint` that oxlint cannot make: those that need types, and those of documents. */
import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import * as discardedResults from "./discardedResults.ts"
import * as prose from "./prose.ts"

const root = resolve(import.meta.dirname, "../..")

const checkResults = (): ReadonlyArray<string> =>
  discardedResults.find(join(import.meta.dirname, "tsconfig.json"), root)
    .map((found) => ({ ...found, file: relative(root, found.file) }))
    .map(({ file, line, type }) => `${file}:${line}: a discarded ${type}: read it, or fail with its failure`)

const checkDocuments = async (): Promise<ReadonlyArray<string>> => {
  const documents = globSync(
    ["*.md", ".changeset/*.md", "docs/**/*.md", "{packages,hosts,examples}/*/*.md", "{packages,hosts}/*/docs/**/*.md"],
    { cwd: root }
  )
  const problems = documents.map(async (path) => {
    const text = await readFile(join(root, path), "utf8")
    return prose.inDocument(text).map(({ message, offset }) =>
      `${path}:${text.slice(0, offset).split("\n").length}: ${message}`
    )
  })
  return (await Promise.all(problems)).flat()
}

const problems = [...await checkDocuments(), ...checkResults()]
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error(`\n${problems.length} problems`)
  process.exitCode = 1
}
