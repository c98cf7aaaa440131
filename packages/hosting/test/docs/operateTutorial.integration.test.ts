import { assert, describe, it } from "@effect/vitest"
import * as FreePort from "@kinora/testkit/FreePort"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect } from "effect"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"

import { join } from "node:path"
import * as Guide from "./Guide.ts"
import * as Page from "./Page.ts"
import * as Shell from "./Shell.ts"
import * as Transcript from "./Transcript.ts"

/** Bundled by the global setup. */
const programs = process.env["ACCEPTANCE_PROGRAMS"] ?? "the global setup"
const program = join(programs, "hosts/cli/src/main.js")

/** The texts that programs in other shells print when they are ready. */
const readiness: Readonly<Record<string, string>> = {
  server: "Kinora is ready",
  worker: "The Kinora worker is ready",
  receiver: ""
}

/** A directory whose `bin` has the command, as after a build. */
const workspace = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await mkdtemp(join(MemoryDirectory.parent(), "kinora-tutorial-"))
    await mkdir(join(directory, "bin"))
    const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`
    await writeFile(join(directory, "bin", "kinora"), script, { mode: 0o755 })
    return directory
  }),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

const freePort = Effect.map(Effect.promise(() => FreePort.find()), String)

/** Puts the last printed value of a kind in place of `gen_…`, as the reader of the page does. */
const completed = (command: string, printed: string) =>
  command.replaceAll(
    /\b(acct|gen|kin|whep)_…/g,
    (placeholder, kind: string) => printed.match(new RegExp(`\\b${kind}_[0-9A-Za-z]+`, "g"))?.at(-1) ?? placeholder
  )

/** The text without what differs between runs and machines. */
const comparable = (text: string) =>
  Guide.withoutRandomness(
    text
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, "<time>")
      .replaceAll(/\d+ of \d+ connections/g, "<connections>")
      .replaceAll(/Postgres [\d.]+/g, "<postgres>")
      .replaceAll(/ \d+ ms /g, " <skew> ")
      .replaceAll(/\/\S+\/kinora-files/g, "<files>")
  )

const assertShown = ({ command, shown }: Transcript.Step, { code, output }: Shell.Printed) => {
  assert.strictEqual(code, 0, `${command}\n${output}`)
  if (shown === undefined) return assert.strictEqual(output, "", command)
  if ("text" in shown) return assert.strictEqual(comparable(output), comparable(shown.text), command)
  const asShown = Transcript.documentsOf(output).map((document, index) => Guide.asShown(document, shown.json[index]))
  assert.deepStrictEqual(asShown, shown.json.map((document) => Guide.asShown(document, document)), command)
}

describe("docs/tutorials/operate-a-service.md", () => {
  it.live("prints what the page shows", () =>
    Effect.gen(function*() {
      const [directory, port, receiver] = [yield* workspace, yield* freePort, yield* freePort]
      const databaseUrl = yield* TestDatabase.postgresUrl
      const page = (yield* Page.read("tutorials/operate-a-service.md"))
        .replaceAll("postgres://kinora:change-me@127.0.0.1:5432/kinora", databaseUrl)
        .replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`)
        .replaceAll(/(127\.0\.0\.1:|listen\()3000/g, `$1${receiver}`)
      const env = {
        PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
        // Otherwise the command keeps its compiled modules in the home of the user.
        NODE_COMPILE_CACHE: join(programs, "compiled"),
        KINORA_PORT: port,
        KINORA_URL: `http://127.0.0.1:${port}`
      }
      const reader = yield* Shell.start(directory, env)
      let printed = ""
      for (const step of Transcript.parse(page)) {
        // The test has a built command already.
        if (step.command.startsWith("npm run build")) continue
        if (step.shell !== undefined) {
          yield* (yield* Shell.start(directory, env)).launch(step.command, readiness[step.shell] ?? "")
          continue
        }
        const run = reader.run(completed(step.command, printed))
        // Events are delivered a moment later.
        const isDelivered = ({ output }: Shell.Printed) => !output.includes("pending")
        const result = yield* Effect.repeat(run, { until: isDelivered })
        assertShown(step, result)
        printed += result.output
      }
    }).pipe(Effect.scoped), 120_000)
})
