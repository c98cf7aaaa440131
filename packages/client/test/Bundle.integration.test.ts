/** Size of the client for pages. */
import { assert, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"

/** Bundles a module for browsers. Returns its remaining imports and its size. */
const bundle = async (module: string) => {
  const { output: [chunk] } = await build({
    input: fileURLToPath(new URL(`../src/${module}.ts`, import.meta.url)),
    platform: "browser",
    write: false,
    resolve: { conditionNames: ["@kinora/source", "import", "default"] },
    output: { minify: true }
  })
  return { imports: chunk.imports, kilobytes: Math.ceil(gzipSync(chunk.code, { level: 9 }).length / 1000) }
}

it("has the size that the README gives and imports nothing", async () => {
  const [plain, effectful] = [await bundle("index"), await bundle("KinoraClient")]
  assert.deepStrictEqual([...plain.imports, ...effectful.imports], [])
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  assert.include(readme, `${plain.kilobytes} kB for everybody, ${effectful.kilobytes} kB with Effect`)
})
