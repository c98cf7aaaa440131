import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/** On other systems the function does nothing. */
const isLinux = process.platform === "linux"

describe("returnFreedMemory", () => {
  const directory = mkdtempSync(join(tmpdir(), "kinora-freed-memory-"))
  const script = join(directory, "script.mjs")
  writeFileSync(
    script,
    `import { returnFreedMemory } from ${JSON.stringify(resolve(import.meta.dirname, "../src/FreedMemory.ts"))}
     console.log(process.pid)
     returnFreedMemory()
     console.log(process.env.MALLOC_MMAP_THRESHOLD_, process.env.KEPT, ...process.execArgv, ...process.argv.slice(2))`
  )
  const run = (env: NodeJS.ProcessEnv, ...flags: ReadonlyArray<string>) => {
    const { pid, stdout } = spawnSync(process.execPath, ["--enable-source-maps", ...flags, script, "a b"], {
      encoding: "utf8",
      env
    })
    return stdout.trim().replaceAll(String(pid), "pid").split("\n")
  }

  it("starts the process again, once, with its id, flags, arguments and environment", () => {
    const expected = isLinux
      ? ["pid", "pid", "131072 yes --enable-source-maps a b"]
      : ["pid", "undefined yes --enable-source-maps a b"]
    assert.deepStrictEqual(run({ KEPT: "yes" }), expected)
  })

  afterAll(() => rmSync(directory, { recursive: true }))

  it("keeps a value that the environment has", () => {
    assert.deepStrictEqual(run({ KEPT: "yes", MALLOC_MMAP_THRESHOLD_: "65536" }), [
      "pid",
      "65536 yes --enable-source-maps a b"
    ])
  })

  it("does nothing in a process that may not start programs", () => {
    assert.deepStrictEqual(run({ KEPT: "yes" }, "--permission", "--allow-fs-read=*"), [
      "pid",
      "undefined yes --enable-source-maps --permission --allow-fs-read=* a b"
    ])
  })
})
