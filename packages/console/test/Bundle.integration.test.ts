/** The sizes of the application, what it consists of, and that its page has nothing inline. */
import { assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { brotliCompressSync } from "node:zlib"
import { build, type Rolldown } from "vite"

const root = fileURLToPath(new URL("..", import.meta.url))

let chunks: ReadonlyMap<string, Rolldown.OutputChunk>
let assets: ReadonlyArray<Rolldown.OutputAsset>

beforeAll(async () => {
  // Tests run with `test`, for which React is several times as large.
  vi.stubEnv("NODE_ENV", "production")
  const result = await build({ root, logLevel: "error", build: { write: false } })
  vi.unstubAllEnvs()
  const output = (Array.isArray(result) ? result : [result]).flatMap((one) => "output" in one ? one.output : [])
  chunks = new Map(output.flatMap((one) => one.type === "chunk" ? [[one.fileName, one] as const] : []))
  assets = output.filter((one) => one.type === "asset")
})

/** The chunk and all that it imports statically. */
const closure = (name: string, found = new Set<string>()): ReadonlySet<string> => {
  if (!found.has(name)) {
    found.add(name)
    for (const imported of chunks.get(name)?.imports ?? []) closure(imported, found)
  }
  return found
}

const kilobytes = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + brotliCompressSync(chunks.get(name)?.code ?? "").length, 0) / 1000

const entry = () => [...chunks.values()].find(({ isEntry }) => isEntry)?.fileName ?? ""
const pages = () => [...chunks.values()].filter(({ isDynamicEntry }) => isDynamicEntry).map(({ fileName }) => fileName)
const pageOf = (name: string) => pages().find((page) => page.includes(`/${name}-`)) ?? ""

describe("the application", () => {
  it("loads at most 130 kB of compressed JavaScript for the first page", () => {
    for (const page of ["Overview", "Playground"]) {
      assert.isAtMost(kilobytes(new Set([...closure(entry()), ...closure(pageOf(page))])), 130, page)
    }
  })

  it("loads at most 12 kB more for each further page", () => {
    const loaded = new Set([...closure(entry()), ...closure(pageOf("Overview"))])
    assert.isAtLeast(pages().length, 20)
    for (const page of pages()) {
      assert.isAtMost(kilobytes([...closure(page)].filter((name) => !loaded.has(name))), 12, page)
    }
  })

  it("contains neither Effect nor the HTTP contract", () => {
    const modules = [...chunks.values()].flatMap(({ moduleIds }) => moduleIds)
    assert.isAtLeast(modules.length, 100)
    assert.deepStrictEqual(modules.filter((id) => /node_modules\/effect\/|packages\/http-api\//.test(id)), [])
  })

  it("has a style sheet of at most 10 kB and fonts of at most 55 kB", () => {
    const sizes = (pattern: RegExp) =>
      assets.filter(({ fileName }) => pattern.test(fileName)).map(({ source }) => source)
    const [css, fonts] = [sizes(/\.css$/), sizes(/\.woff2$/)]
    assert.isAbove(css.length, 0)
    assert.strictEqual(fonts.length, 2)
    assert.isAtMost(css.reduce((sum, source) => sum + brotliCompressSync(source).length, 0) / 1000, 10)
    assert.isAtMost(fonts.reduce((sum, source) => sum + source.length, 0) / 1000, 55)
  })
})

describe("the page", () => {
  it("has no inline script and no inline style, which its policy forbids", () => {
    const page = assets.find(({ fileName }) => fileName === "index.html")
    const html = String(page?.source)
    assert.include(html, "<script type=\"module\"")
    assert.isFalse(/<script(?![^>]*\ssrc=)/.test(html), html)
    assert.isFalse(/<style|\sstyle=|\son\w+=|data:/.test(html), html)
  })

  it("reads the theme from a file", async () => {
    assert.include(await readFile(`${root}/public/theme.js`, "utf8"), "localStorage")
  })
})
