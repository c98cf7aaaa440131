/** What a page downloads for the client. */
import { assert, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"

/** The module as a bundler makes it for a browser, and what it still imports. */
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

it("is as small as the README says, and needs nothing but the platform", async () => {
  const [plain, effectful] = [await bundle("index"), await bundle("KinoraClient")]
  assert.deepStrictEqual([...plain.imports, ...effectful.imports], [])
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  assert.include(readme, `${plain.kilobytes} kB for everybody, ${effectful.kilobytes} kB with Effect`)
})
