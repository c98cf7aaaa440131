/** Takes screenshots of the console: `npm run console:screenshots -- --help`. */
import { Console, Data, Effect } from "effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { chromium } from "playwright-core"
import sharp from "sharp"
import { readOptions } from "../../internal/commandLine.ts"
import * as Chromium from "../Chromium.ts"
import * as ConsoleHost from "../ConsoleHost.ts"
import * as Scene from "./Scene.ts"
import * as Shots from "./Shots.ts"

const help = `Takes screenshots of every page of the console: light, dark and narrow.

npm run console:screenshots -- [--only <names>] [--few] [--docs]

  --only     Names of pages, separated by commas. Default: all
  --few      Create three jobs instead of ten
  --docs     Also write the pictures of the documentation to docs/images
  --help     Print this text

Starts a server on an embedded database in a temporary directory and creates an account with jobs, keys and webhooks. The
usage of past days is invented, because a new server has none. Writes the pictures and a page with all of them, index.html,
to artifacts/console, and prints the time until the first content of each page is painted. Needs Chromium.
Exit codes: 0, or 2 if the options are not valid or there is no Chromium.`

const repository = join(import.meta.dirname, "../../../../..")
const directory = join(repository, "artifacts/console")

/** Pictures of the documentation: names of files in both directories. */
const documented = ["playground-result-light", "jobs-grid-dark", "endpoint-light", "usage-dark"]

class NoBrowser extends Data.TaggedError("NoBrowser")<{ readonly message: string }> {}

const parse = () =>
  parseArgs({
    args: process.argv.slice(2),
    options: {
      only: { type: "string", default: "" },
      few: { type: "boolean", default: false },
      docs: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  }).values

const program = Effect.gen(function*() {
  const { docs: isDocs, few: isFew, help: isHelp, only } = yield* readOptions(parse)
  if (isHelp) return yield* Effect.as(Console.log(help), 0)
  const { path } = Chromium
  if (path === undefined) {
    return yield* new NoBrowser({ message: "Chromium was not found. Run .ci/chromium, which installs that of Debian" })
  }
  const host = yield* ConsoleHost.start({ databaseUrl: "", models: Scene.models }).pipe(Effect.orDie)
  const browser = yield* Effect.acquireRelease(
    // Without a sandbox, because the script can run as root. The pages are our own.
    Effect.promise(() => chromium.launch({ executablePath: path, args: ["--no-sandbox"] })),
    (launched) => Effect.promise(() => launched.close())
  )
  const paints = yield* Effect.promise(async () => {
    const scene = await Scene.make(host, isFew)
    const names = only.split(",").filter((name) => name !== "")
    return await Shots.take({ host, browser, scene, directory, only: names })
  })
  for (const { millis, name } of paints) {
    yield* Console.log(`${name.padEnd(28)} first paint after ${Math.round(millis)} ms`)
  }
  if (isDocs) yield* Effect.promise(() => Promise.all(documented.map(compress)))
  yield* Console.log(`${paints.length * Shots.looks.length} pictures: ${join(directory, "index.html")}`)
  return 0
}).pipe(
  Effect.scoped,
  Effect.catchTag(
    ["InvalidOptions", "NoBrowser"],
    ({ message }) => Effect.as(Console.error(`${message}\n\n${help}`), 2)
  )
)

const compress = (name: string) =>
  sharp(join(directory, `${name}.png`)).webp({ quality: 82, effort: 6 }).toFile(
    join(repository, "docs/images", `console-${name}.webp`)
  )

process.exitCode = await Effect.runPromise(program)
