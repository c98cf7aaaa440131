/** Runs random stories from the command line: `npm run stories -- --help`. */
import { PgClient } from "@effect/sql-pg"
// Only this module: the package as a whole requires a test runner.
import * as EmbeddedPostgres from "@kinora/testkit/EmbeddedPostgres"
import { Clock, Console, Data, Effect, Redacted } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Backend from "./Backend.ts"
import * as Stories from "./Stories.ts"

const help = `Runs random stories of clients and hosts under faults, and checks the promises of Kinora.

npm run stories -- [--seeds <count>] [--first <seed>] [--backend memory|postgres] [--url <url>] [--json]

  --seeds    Number of stories, 1 to 10000000. Default 1000
  --first    Seed of the first story, 0 or more. Default 1
  --backend  Database of the hosts. Default memory
  --url      URL of an empty Postgres database, which the stories overwrite. Default: starts a server
  --json     Print one line of JSON per story that breaks a promise, and one at the end
  --help     Print this text

Exit codes: 0 if every promise holds, 1 if one is broken, 2 if the options are not valid or the database is unavailable.
Progress goes to the standard error output. A broken seed is printed with a short story that breaks the promise too.`

/** The options are not valid. */
class InvalidOptions extends Data.TaggedError("InvalidOptions")<{ readonly message: string }> {}

/** The options of the command line. */
const readOptions = Effect.try({
  try: () =>
    parseArgs({
      args: process.argv.slice(2),
      options: {
        seeds: { type: "string", default: "1000" },
        first: { type: "string", default: "1" },
        backend: { type: "string", default: "memory" },
        url: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    }).values,
  catch: (cause) => new InvalidOptions({ message: cause instanceof Error ? cause.message : String(cause) })
})

const wholeNumber = (name: string, text: string, minimum: number) =>
  /^\d{1,8}$/.test(text) && Number(text) >= minimum && Number(text) <= 10_000_000
    ? Effect.succeed(Number(text))
    : Effect.fail(new InvalidOptions({ message: `--${name} must be a whole number from ${minimum} to 10000000` }))

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new InvalidOptions({ message: `Postgres does not start: ${String(cause)}` })
  })

/** URL of a server that stops with the scope. Its files are not synced. */
const startPostgres = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    attempt(async () => {
      const path = await mkdtemp(join(tmpdir(), "kinora-stories-"))
      // A server started by root runs as another user.
      await chmod(path, 0o755)
      return path
    }),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const settings = { fsync: "off", synchronous_commit: "off" }
  const { url } = yield* Effect.acquireRelease(
    attempt(() => EmbeddedPostgres.start(directory, settings)),
    (server) => Effect.promise(() => server.stop())
  )
  return url
})

const backendOf = Effect.fnUntraced(function*(name: string, given: string | undefined) {
  if (name === "memory") return Backend.memory
  if (name !== "postgres") return yield* new InvalidOptions({ message: "--backend must be memory or postgres" })
  const url = given ?? (yield* startPostgres)
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 16 })
  return yield* Backend.makePostgres(client).pipe(
    Effect.mapError((cause) => new InvalidOptions({ message: `The database is unavailable: ${cause.reason._tag}` }))
  )
})

const program = Effect.gen(function*() {
  const { backend: name, first: firstText, help: isHelp, json, seeds, url } = yield* readOptions
  if (isHelp) return yield* Effect.as(Console.log(help), 0)
  const count = yield* wholeNumber("seeds", seeds, 1)
  const first = yield* wholeNumber("first", firstText, 0)
  const backend = yield* backendOf(name, url)
  const onBroken = (broken: Stories.BrokenSeed) => {
    const { problems, seed, story } = broken
    return Console.log(json ? JSON.stringify({ seed, problems, story }) : `\r${broken.message}\n`)
  }
  const onProgress = (told: number) =>
    told % 10 === 0 || told === count
      ? Effect.sync(() => void process.stderr.write(`\r${told} of ${count} stories`))
      : Effect.void
  const startedAt = yield* Clock.currentTimeMillis
  const total = yield* Stories.checkAll({ first, count, backend, onBroken, onProgress })
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
  process.stderr.write("\n")
  yield* Console.log(json ? JSON.stringify({ ...total, seconds }) : `${Stories.formatTotal(total)}, ${seconds} seconds`)
  return total.broken.length === 0 ? 0 : 1
}).pipe(
  Effect.scoped,
  Effect.catchTag("InvalidOptions", ({ message }) => Effect.as(Console.error(`${message}\n\n${help}`), 2))
)

process.exitCode = await Effect.runPromise(program)
