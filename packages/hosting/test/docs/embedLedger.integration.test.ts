import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Page from "./Page.ts"

/** Packages resolve from here. */
const directory = fileURLToPath(new URL("../..", import.meta.url))

/** The blocks of this language on the page, in order. */
const blocks = (language: string) =>
  Effect.map(
    Page.read("tutorials/embed-the-ledger.md"),
    (text) =>
      Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), ([, block = ""]) => block)
  )

/** Runs a program as a process of its own and returns what it prints. */
const run = (program: string, environment: Readonly<Record<string, string>>) =>
  Effect.promise(async () => {
    const options = ["--input-type=module-typescript", "--conditions=@kinora/source", "--eval", program]
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: directory, env: environment })
    return stdout
  })

describe("docs/tutorials/embed-the-ledger.md", () => {
  it.live("prints what the page shows", () =>
    Effect.gen(function*() {
      const [memory = "", postgres = ""] = yield* blocks("ts")
      const [memoryOutput, postgresOutput] = yield* blocks("text")
      assert.strictEqual(yield* run(memory, {}), memoryOutput)
      const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
      assert.strictEqual(yield* run(postgres, environment), postgresOutput)
      assert.strictEqual(yield* run(postgres, environment), postgresOutput)
    }))
})
