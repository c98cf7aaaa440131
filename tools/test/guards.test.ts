/** The lint rules and the package boundaries reject what they are meant to reject, and nothing else. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "kinora-guards-"))
  for (const path of [".oxlintrc.json", "tools/lint", "turbo.json", "tsconfig.base.json"]) {
    await cp(join(root, path), join(copy, path), { recursive: true })
  }
  await write("package.json", {
    name: "guarded",
    private: true,
    type: "module",
    packageManager: "npm@11.19.1",
    workspaces: ["packages/*", "hosts/*"]
  })
  await symlink(join(root, "node_modules"), join(copy, "node_modules"))
})

afterAll(() => rm(copy, { recursive: true, force: true }))

const write = async (path: string, content: string | object): Promise<void> => {
  const target = join(copy, path)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, typeof content === "string" ? content : JSON.stringify(content))
}

/** A module of this many lines. */
const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `export const n${index} = ${index}\n`).join("")

interface Outcome {
  readonly code: number | string | null | undefined
  readonly output: string
}

const run = (command: string, args: ReadonlyArray<string>): Promise<Outcome> =>
  new Promise((done) => {
    execFile(join(root, "node_modules/.bin", command), args, { cwd: copy }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, output: stdout + stderr }))
  })

describe("lint", () => {
  const refused: ReadonlyArray<readonly [rule: string, path: string, code: string]> = [
    ["no-restricted-imports", "packages/ledger/src/Node.ts", `export { readFile } from "node:fs/promises"\n`],
    ["no-restricted-imports", "packages/ledger/src/Driver.ts", `export { PgClient } from "@effect/sql-pg"\n`],
    ["no-restricted-imports", "packages/generations/src/Sharp.ts", `export { default as sharp } from "sharp"\n`],
    ["package-borders", "packages/ledger/src/Out.ts", `export { make } from "../../persistence/src/Folding.ts"\n`],
    ["package-borders", "packages/ledger/test/Out.ts", `export { suite } from "../../persistence/test/Suite.ts"\n`],
    ["package-borders", "hosts/server/src/Inside.ts", `export { table } from "@kinora/ledger/internal/migrations"\n`],
    [
      "no-danger",
      "packages/console/src/Raw.tsx",
      `export const Raw = ({ html }: { html: string }) => <p dangerouslySetInnerHTML={{ __html: html }} />\n`
    ],
    [
      "no-restricted-properties",
      "packages/console/src/Inner.ts",
      `export const set = (element: { innerHTML: string }, html: string) => {\n  element.innerHTML = html\n}\n`
    ],
    ["no-ambient-time", "packages/ledger/src/DateNow.ts", `export const now = () => Date.now()\n`],
    ["no-ambient-time", "packages/ledger/src/NewDate.ts", `export const now = () => new Date()\n`],
    ["no-restricted-properties", "packages/ledger/src/Chance.ts", `export const dice = () => Math.random()\n`],
    [
      "no-restricted-globals",
      "packages/ledger/src/Timer.ts",
      `export const wait = (f: () => void) => setTimeout(f, 1)\n`
    ],
    ["no-process-env", "packages/ledger/src/Env.ts", `export const home = () => process.env["HOME"]\n`],
    ["no-console", "packages/ledger/src/Print.ts", `export const say = () => console.log("hello")\n`],
    ["no-double-assertion", "packages/ledger/src/Cast.ts", `export const f = (x: string) => x as unknown as number\n`],
    ["no-explicit-any", "packages/ledger/src/Any.ts", `export const f = (x: any) => String(x)\n`],
    [
      "no-restricted-properties",
      "packages/ledger/test/Sleep.ts",
      `import { Effect } from "effect"\nexport const nap = Effect.sleep("1 second")\n`
    ],
    [
      "no-restricted-globals",
      "packages/ledger/test/Timer.ts",
      `export const f = (g: () => void) => setTimeout(g, 1)\n`
    ],
    [
      "no-restricted-properties",
      "packages/ledger/src/internal/contract/sleep.ts",
      `import { Effect } from "effect"\nexport const nap = Effect.sleep("1 second")\n`
    ],
    [
      "no-restricted-properties",
      "packages/ledger/src/internal/contract/chance.ts",
      `export const dice = () => Math.random()\n`
    ],
    [
      "no-restricted-globals",
      "packages/ledger/src/internal/contract/timer.ts",
      `export const wait = (f: () => void) => setInterval(f, 1)\n`
    ],
    ["plain-words", "packages/lint-sample/src/Opening.ts", `/** What the ledger is. */\nexport const a = 1\n`],
    ["plain-words", "packages/lint-sample/src/Idiom.ts", `// The worker is told to stop.\nexport const b = 1\n`],
    ["plain-words", "packages/lint-sample/src/Number.ts", `/** Refunds a job (D12). */\nexport const c = 1\n`],
    ["plain-words", "packages/lint-sample/src/Contract.ts", `/** See interface.md. */\nexport const d = 1\n`],
    ["plain-words", "packages/lint-sample/src/Message.ts", `export const e = "The database is away"\n`],
    ["plain-words", "packages/lint-sample/test/Name.ts", "export const f = (n: number) => `refunds ${n} jobs (D22)`\n"],
    [
      "max-lines-per-function",
      "packages/lint-sample/src/Function.ts",
      `export const g = (x: number) => {\n${"  x += 1\n".repeat(69)}  return x\n}\n`
    ],
    ["max-lines)", "packages/lint-sample/src/File.ts", lines(301)],
    [
      "no-cycle",
      "packages/lint-sample/src/CircleA.ts",
      `import type { B } from "./CircleB.ts"\nexport interface A {\n  readonly b: B\n}\n`
    ],
    [
      "no-cycle",
      "packages/lint-sample/src/CircleB.ts",
      `import type { A } from "./CircleA.ts"\nexport interface B {\n  readonly a: A\n}\n`
    ],
    ["every-test-runs", "packages/ledger/test/Skip.ts", `import { it } from "vitest"\nit.skip("later", () => {})\n`],
    [
      "every-test-runs",
      "packages/ledger/test/Only.ts",
      `import { it } from "@effect/vitest"\nimport { Effect } from "effect"\nit.effect.only("me", () => Effect.void)\n`
    ],
    [
      "every-test-runs",
      "packages/ledger/src/internal/contract/only.ts",
      `import { it } from "@effect/vitest"\nimport { Effect } from "effect"\nit.effect.only("me", () => Effect.void)\n`
    ]
  ]
  const accepted: ReadonlyArray<readonly [path: string, code: string]> = [
    ["packages/storage/src/Files.ts", `export { readFile } from "node:fs/promises"\n`],
    ["packages/hosting/src/Home.ts", `export const home = () => process.env["HOME"]\n`],
    ["packages/ledger/src/internal/rows.ts", `export { Lot } from "../Lot.ts"\n`],
    ["packages/ledger/src/Given.ts", `export const day = (now: number) => new Date(now).toISOString()\n`],
    ["packages/ledger/test/Driver.ts", `export { PgClient } from "@effect/sql-pg"\n`],
    [
      "packages/lint-sample/src/Words.ts",
      "/** Returns the name of a whale. */\nexport const nameOf = (name: string) => `${name} is a whale`\n"
    ],
    [
      "packages/lint-sample/src/Long.ts",
      `export const g = (x: number) => {\n${"  x += 1\n".repeat(67)}  return x\n}\n`
    ],
    ["packages/lint-sample/src/File300.ts", lines(300)],
    ["packages/lint-sample/test/Long.ts", lines(301)],
    ["packages/lint-sample/src/Above.ts", `import type { Below } from "./Below.ts"\nexport type Above = Below\n`],
    ["packages/lint-sample/src/Below.ts", "export type Below = number\n"]
  ]

  it("refuses each of these, in its own folder, by its own rule", async () => {
    for (const [, path, code] of refused) await write(path, code)
    const { code, output } = await run("oxlint", ["--format=unix", "packages", "hosts"])
    assert.strictEqual(code, 1)
    const missed = refused.filter(([rule, path]) =>
      !output.split("\n").some((line) => line.includes(`${path}:`) && line.includes(rule))
    )
    assert.deepStrictEqual(missed.map(([rule, path]) => [rule, path]), [], output)
  })

  it("accepts the same things where they belong", async () => {
    for (const [path, code] of accepted) await write(path, code)
    const { code, output } = await run("oxlint", accepted.map(([path]) => path))
    assert.strictEqual(code, 0, output)
  })
})

describe("boundaries", () => {
  const writePackage = async (name: string, tag: string, imports: ReadonlyArray<string>): Promise<void> => {
    const folder = tag === "host" ? `hosts/${name}` : `packages/${name}`
    const dependencies = Object.fromEntries(imports.map((other) => [`@kinora/${other}`, "0.1.0"]))
    await write(`${folder}/package.json`, { name: `@kinora/${name}`, version: "0.1.0", type: "module", dependencies })
    await write(`${folder}/turbo.json`, { extends: ["//"], tags: [tag] })
    await write(`${folder}/src/index.ts`, imports.map((other) => `import "@kinora/${other}"\n`).join(""))
  }

  it("allows drivers to depend on a domain, and the assembly on all but hosts", async () => {
    await rm(join(copy, "packages"), { recursive: true, force: true })
    await rm(join(copy, "hosts"), { recursive: true, force: true })
    await writePackage("persistence", "kernel", [])
    await writePackage("generator", "domain", ["persistence"])
    await writePackage("painter", "driver", ["generator", "persistence"])
    await writePackage("generations", "application", ["generator", "persistence"])
    await writePackage("hosting", "assembly", ["generations", "painter"])
    await writePackage("server", "host", ["hosting"])
    const { code, output } = await run("turbo", ["boundaries"])
    assert.strictEqual(code, 0, output)
  })

  it("refuses a domain that imports another, an application that imports a driver, and whoever imports a host", async () => {
    const violations: ReadonlyArray<readonly [name: string, tag: string, imports: string]> = [
      ["ledger", "domain", "generator"],
      ["accounts", "application", "painter"],
      ["catalog", "assembly", "server"],
      ["testing", "kernel", "generator"]
    ]
    for (const [name, tag, other] of violations) {
      await writePackage(name, tag, [other])
      const { code, output } = await run("turbo", ["boundaries"])
      assert.strictEqual(code, 1, `${tag} may not import ${other}\n${output}`)
      await rm(join(copy, "packages", name), { recursive: true })
    }
    assert.strictEqual((await run("turbo", ["boundaries"])).code, 0)
  })
})
