/** Runs the programs of the how-to guides against a server after its first start. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Program from "../src/Program.ts"
import { pngSizeOf } from "./imageServer.ts"
import { makeSite } from "./sites.ts"

/** Programs in the order of the guide, and the file that each writes. */
const programs = [
  { file: "openai.ts", picture: "dawn.png", says: /^$/ },
  { file: "aiSdk.ts", picture: "dusk.png", says: /^$/ },
  { file: "client.ts", picture: "harbour.png", says: /^$/ },
  { file: "clientSteps.ts", picture: "day.png", says: /^completed$(.|\n)*^4 jobs, 8 credits$/m }
] as const

const example = (file: string) => join(import.meta.dirname, "../example", file)

describe("docs/how-to", () => {
  it.effect("shows the programs of the examples", () =>
    Effect.gen(function*() {
      const pages = ["use-an-openai-client.md", "use-the-client.md"]
      const guide = (yield* Effect.forEach(pages, (page) =>
        read(join(import.meta.dirname, "../../../docs/how-to", page)))).join("\n")
      const shown = Array.from(guide.matchAll(/^```ts\n(.*?)^```$/gms), ([, text]) =>
        text)
      assert.deepStrictEqual(
        shown,
        yield* Effect.forEach(programs, ({ file }) =>
          read(example(file)))
      )
    }))

  it.live("shows programs that write the pictures and lines that it describes", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("Postgres")
      const { apiKey, baseUrl } = yield* Program.startServer(environment)
      const directory = yield* emptyDirectory
      for (const { file, picture, says } of programs) {
        const { stdout } = yield* Effect.promise(() =>
          run(process.execPath, ["--conditions=@kinora/source", example(file)], {
            cwd: directory,
            env: { BASE: baseUrl, KEY: apiKey ?? "" }
          })
        )
        assert.match(stdout, says)
        const [width, height] = pngSizeOf(yield* Effect.promise(() => readFile(join(directory, picture))))
        assert.isAtLeast(Math.min(width, height), 384, picture)
      }
    }), 600_000)
})

const run = promisify(execFile)

const read = (path: string) => Effect.promise(() => readFile(path, "utf8"))

const emptyDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-guide-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)
