/** The sections of every README, and that "API" lists what the package exports. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "vitest"
import { publicPackages, root } from "./publicPackages.ts"

it("the READMEs of packages have the same sections in the same order", async () => {
  const problems: Array<string> = []
  for (const { directory, manifest: { name } } of await publicPackages()) {
    // The hosts and the console are programs.
    if (!directory.startsWith(join(root, "packages")) || name === "@kinora/console") continue
    const readme = await readFile(join(directory, "README.md"), "utf8")
    const present = Array.from(
      readme.replace(/^```[^]*?^```$/gm, "").matchAll(/^## (.+)$/gm),
      ([, title = ""]) => title
    )
    const shared = present.filter((title) => sections.includes(title))
    assert.deepStrictEqual(shared, sections.filter((title) => shared.includes(title)), name)
    problems.push(...required.filter((title) => !present.includes(title)).map((title) => `${name}: ${title}`))
  }
  assert.deepStrictEqual(problems, [])
})

it("every README lists all modules of its index with all their names, and the names of an index without modules", async () => {
  const missing: Array<string> = []
  for (const { directory, manifest: { name } } of await publicPackages()) {
    // The hosts are programs. Their READMEs describe how to use them.
    if (!directory.startsWith(join(root, "packages"))) continue
    const index = await readFile(join(directory, "src/index.ts"), "utf8").catch(() => "")
    const modules = Array.from(index.matchAll(/^export \* as (\w+) from "\.\/(.+)"$/gm))
    const flat = Array.from(index.matchAll(/^export (?:type )?\* from "\.\/(.+)"$/gm), ([, path = ""]) => path)
    const api = sectionOf(await readFile(join(directory, "README.md"), "utf8"))
    // Names without a namespace can be anywhere in the section.
    for (const path of flat) {
      const exported = namesIn(await readFile(join(directory, "src", path), "utf8"))
      missing.push(
        ...exported.filter(({ name }) => !new RegExp(`\`${name}\\b`).test(api)).map((one) => `${name}: ${one.name}`)
      )
    }
    for (const [, module = "", path = ""] of modules) {
      const entry = entryOf(api, module)
      const exported = namesIn(await readFile(join(directory, "src", path), "utf8"))
      if (entry === "") missing.push(`${name}: ${module}`)
      else missing.push(...exported.filter((one) => !lists(entry, one)).map((one) => `${name}: ${module}.${one.name}`))
    }
  }
  assert.deepStrictEqual(missing, [])
})

it.each(["ledger", "scheduler"])("%s exports at most 40 names from the modules of its index", async (name) => {
  const directory = join(root, "packages", name, "src")
  const index = await readFile(join(directory, "index.ts"), "utf8")
  const names = await Promise.all(
    Array.from(
      index.matchAll(/^export \* as \w+ from "\.\/(.+)"$/gm),
      async ([, path = ""]) => namesIn(await readFile(join(directory, path), "utf8"))
    )
  )
  assert.isAtMost(names.flat().length, 40)
  assert.isAtLeast(names.flat().length, 30)
})

/** The sections that several READMEs have, in their order. */
const sections = [
  "On Postgres",
  "Without Effect",
  "Guarantees",
  "How to",
  "Options and limits",
  "Telemetry",
  "API",
  "Tables"
]

/** The sections that every README has. */
const required = ["Guarantees", "How to", "Options and limits", "API", "Tables"]

/** An exported name. Classes of reasons need not be listed one by one. */
interface Exported {
  readonly name: string
  readonly isClass: boolean
}

const sectionOf = (readme: string): string => /^## API\n(.*?)(?=^## |(?![\s\S]))/ms.exec(readme)?.[1] ?? ""

/** Returns the line of a module: the row of a table whose first cell names it, or a line that begins with it. */
const entryOf = (api: string, module: string): string =>
  api.split("\n").find((line) => /^(?:\| )?[^|]*/.exec(line)?.[0].includes(`\`${module}\``)) ?? ""

const lists = (entry: string, { isClass, name }: Exported): boolean =>
  new RegExp(`\`${name}\\b`).test(entry) || (isClass && entry.includes("one class per"))

const namesIn = (source: string): ReadonlyArray<Exported> => {
  const declared = source.matchAll(/^export (?:abstract )?(class|const|function\*?|interface|type) (\w+)/gm)
  const again = Array.from(
    source.matchAll(/^export (?:type )?\{(.*?)\}/gms),
    ([, names = ""]) =>
      Array.from(names.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/(\w+)\s*(?:,|$)/g), ([, name = ""]) => name)
  ).flat()
  const spaces = Array.from(source.matchAll(/^export \* as (\w+) from/gm), ([, name = ""]) => name)
  const found = new Map<string, Exported>()
  for (const [, kind, name = ""] of declared) found.set(name, { name, isClass: kind === "class" })
  for (const name of [...again, ...spaces]) found.set(name, { name, isClass: /^[A-Z]/.test(name) })
  return [...found.values()]
}
