import { assert, it } from "@effect/vitest"
import { existsSync, globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("../../../..", import.meta.url))

const ignored = new Set(["node_modules", "dist", ".git", ".turbo", "artifacts"])

/** Every Markdown file of the repository, by path, without its code blocks. */
const pages = async () => {
  const paths = globSync("**/*.md", { cwd: repository, exclude: (path) => ignored.has(basename(path)) })
  return new Map(
    await Promise.all(paths.map(async (path) => {
      const text = await readFile(join(repository, path), "utf8")
      return [path, text.replaceAll(/^```.*?^```$/gms, "")] as const
    }))
  )
}

/** The anchors of the headings of a page, as GitHub derives them. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  return new Set(
    Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) => {
      const anchor = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")
      const count = counts.get(anchor) ?? 0
      counts.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    })
  )
}

it("every relative link in Markdown leads to a file, and its anchor to a heading", async () => {
  const texts = await pages()
  assert.isAbove(texts.size, 40)
  const broken = [...texts].flatMap(([path, text]) =>
    Array.from(text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)).flatMap(([link, target = "", anchor]) => {
      if (/^[a-z]+:/.test(target)) return []
      const file = target === "" ? path : normalize(join(dirname(path), target))
      if (!existsSync(join(repository, file))) return [`${path}: ${link}`]
      const page = texts.get(file)
      return anchor === undefined || page === undefined || anchorsOf(page).has(anchor) ? [] : [`${path}: ${link}`]
    })
  )
  assert.deepStrictEqual(broken, [])
})
