import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

describe("keepCompiledModules", () => {
  const directory = mkdtempSync(join(tmpdir(), "kinora-compile-cache-"))
  const script = join(directory, "script.mjs")
  writeFileSync(
    script,
    `import { keepCompiledModules } from ${JSON.stringify(resolve(import.meta.dirname, "../src/CompileCache.ts"))}
     import { getCompileCacheDir } from "node:module"
     keepCompiledModules()
     await import("./later.mjs")
     console.log(getCompileCacheDir())`
  )
  writeFileSync(join(directory, "later.mjs"), "")
  /** Returns the directory of the compiled modules. */
  const run = (env: NodeJS.ProcessEnv) => spawnSync(process.execPath, [script], { encoding: "utf8", env }).stdout.trim()

  afterAll(() => rmSync(directory, { recursive: true }))

  it("keeps them in the home of the user, where no other user can write", () => {
    const used = run({ HOME: join(directory, "home") })
    assert.strictEqual(dirname(used), join(directory, "home/.cache/kinora"))
    assert.strictEqual(statSync(dirname(used)).mode & 0o777, 0o700)
    assert.isNotEmpty(readdirSync(used))
  })

  it("keeps them in the directory that Node has", () => {
    const used = run({ HOME: join(directory, "unused"), NODE_COMPILE_CACHE: join(directory, "own") })
    assert.strictEqual(dirname(used), join(directory, "own"))
    assert.notInclude(readdirSync(directory), "unused")
  })

  it("does nothing if the home cannot be written", () => {
    assert.strictEqual(run({ HOME: script }), "undefined")
  })

  it("does nothing if the cache is disabled", () => {
    assert.strictEqual(run({ HOME: join(directory, "home"), NODE_DISABLE_COMPILE_CACHE: "1" }), "undefined")
  })
})
