/** Programs start from a bundle of the sources as they are, or else from source. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

import { modulesAtStart } from "../programs/bundle.ts"

const repository = resolve(import.meta.dirname, "../..")
const copied = ["tools/programs", "packages/hosting/package.json", "packages/hosting/src/FreedMemory.ts"]

/** A repository of three programs, each of which prints its file and its arguments. */
const root = mkdtempSync(join(tmpdir(), "kinora-programs-"))
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const program = (greeting: string) =>
  `console.log(${JSON.stringify(greeting)}, process.argv[1].split(".").at(-1), ...process.argv.slice(2))\n`

const start = (...args: ReadonlyArray<string>) => startIn(root, ...args)
const startIn = (root: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@kinora/source", join(root, "tools/programs/start.js"), ...args],
    { encoding: "utf8", env: {} }
  )
  return { status, stderr, stdout: stdout.trim() }
}
const current = () => readFileSync(join(root, "node_modules/.cache/kinora-programs/current.json"), "utf8")

describe("a program", () => {
  beforeAll(() => {
    for (const path of copied) cpSync(join(repository, path), join(root, path), { recursive: true })
    write("package.json", `{ "type": "module" }`)
    write("node_modules/.package-lock.json", "{}")
    symlinkSync(join(repository, "node_modules/rolldown"), join(root, "node_modules/rolldown"))
    mkdirSync(join(root, "node_modules/@kinora"))
    symlinkSync(join(root, "packages/hosting"), join(root, "node_modules/@kinora/hosting"))
    for (const name of ["server", "worker"]) write(`hosts/${name}/src/main.ts`, program(name))
    write("hosts/cli/src/main.ts", `import "./greeting.ts"\n`)
    write("hosts/cli/src/greeting.ts", program("one"))
    return () => rmSync(root, { recursive: true })
  })

  it("is bundled when it starts for the first time, and not again", () => {
    assert.deepStrictEqual(start("cli", "--json", "x"), { status: 0, stderr: "", stdout: "one js --json x" })
    const first = current()
    assert.deepStrictEqual(start("server"), { status: 0, stderr: "", stdout: "server js" })
    assert.strictEqual(current(), first)
  })

  it("is bundled again when a source has changed", () => {
    write("hosts/cli/src/greeting.ts", program("another"))
    assert.strictEqual(start("cli").stdout, "another js")
  })

  it("starts without the TypeScript compiler of Node when the compile cache has its modules", () => {
    write("hosts/cli/src/greeting.ts", `console.log(process.moduleLoadList.some((name) => name.includes("amaro")))\n`)
    start("cli")
    assert.deepStrictEqual(start("cli"), { status: 0, stderr: "", stdout: "false" })
    write("hosts/cli/src/greeting.ts", program("another"))
  })

  it("is bundled again when its record cannot be read", () => {
    write("node_modules/.cache/kinora-programs/current.json", "")
    assert.deepStrictEqual(start("cli"), { status: 0, stderr: "", stdout: "another js" })
  })

  it("is bundled while another process removes a bundle", () => {
    symlinkSync("removed", join(root, "node_modules/.cache/kinora-programs/bundles/partial-1"))
    write("hosts/cli/src/greeting.ts", program("a third"))
    assert.deepStrictEqual(start("cli"), { status: 0, stderr: "", stdout: "a third js" })
  })

  it("is bundled again if a source has changed while it was bundled", () => {
    const recorded = (startedAt: number) => {
      write("node_modules/.cache/kinora-programs/current.json", "")
      const source = join(root, "hosts/cli/src/greeting.ts")
      const bundle = { directory: join(root, "node_modules/.cache/kinora-programs/bundles"), sources: [source] }
      const { status } = spawnSync(process.execPath, [
        "--input-type=module",
        "--eval",
        `import { record } from ${JSON.stringify(pathToFileURL(join(root, "tools/programs/current.ts")))}
         record(${JSON.stringify(bundle)}, ${startedAt})`
      ])
      assert.strictEqual(status, 0)
      return current() !== ""
    }
    write("hosts/cli/src/greeting.ts", program("a fourth"))
    const { ctimeMs } = statSync(join(root, "hosts/cli/src/greeting.ts"))
    assert.isFalse(recorded(ctimeMs - 1))
    assert.isTrue(recorded(ctimeMs + 1))
  })

  it("is bundled again after the repository was moved, because it names its files", () => {
    write("hosts/cli/src/greeting.ts", "console.log(import.meta.url)\n")
    assert.strictEqual(start("cli").stdout, pathToFileURL(join(root, "hosts/cli/src/greeting.ts")).href)
    const moved = join(root, "moved")
    mkdirSync(moved)
    const names = ["hosts", "node_modules", "package.json", "packages", "tools"]
    const move = (from: string, to: string) => {
      for (const name of names) renameSync(join(from, name), join(to, name))
      rmSync(join(to, "node_modules/@kinora/hosting"))
      symlinkSync(join(to, "packages/hosting"), join(to, "node_modules/@kinora/hosting"))
    }
    move(root, moved)
    const { stdout } = startIn(moved, "cli")
    move(moved, root)
    assert.strictEqual(stdout, pathToFileURL(join(moved, "hosts/cli/src/greeting.ts")).href)
    write("hosts/cli/src/greeting.ts", program("another"))
  })

  it("runs from source if it cannot be bundled", () => {
    write("hosts/worker/src/main.ts", "not ( a program")
    const { status, stderr, stdout } = start("cli")
    assert.deepStrictEqual([status, stdout], [0, "another ts"])
    assert.include(stderr, "The programs are not bundled: Error: Build failed")
  })

  it("runs from source without the bundler", () => {
    rmSync(join(root, "node_modules/rolldown"))
    assert.deepStrictEqual(start("cli"), { status: 0, stderr: "", stdout: "another ts" })
  })
})

it("loads no client of other services at its start", async () => {
  const modules = await modulesAtStart(["server", "worker", "cli"].map((host) => `hosts/${host}/src/main.ts`))
  for (const [program, paths] of modules) {
    // Otherwise it would look at the wrong modules.
    assert.include(paths, join(repository, dirname(program), "command.ts"))
    assert.deepStrictEqual(paths.filter((path) => loadedLater.test(path)), [], program)
  }
})

/** Modules for limits in Redis, webhooks, payments and sign-ins, which the first request does not need. */
const loadedLater = /redis|[\\/]node_modules[\\/](undici|stripe|openid-client)[\\/]/i
