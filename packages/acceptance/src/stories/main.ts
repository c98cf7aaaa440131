/** Runs random stories from the command line: `npm run stories -- --help`. */
import { Clock, Console, Effect } from "effect"
import { parseArgs } from "node:util"
import { InvalidOptions, readOptions, startPostgres, wholeNumber } from "../internal/commandLine.ts"
import * as Backend from "./Backend.ts"
import * as Stories from "./Stories.ts"

const help = `Runs random stories of clients and hosts under faults, and checks the promises of Kinora.

npm run stories -- [--seeds <count>] [--first <seed>] [--backend memory|postgres] [--url <url>]
  [--shrinks <count>] [--json]

  --seeds    Number of stories, 1 to 10000000. Default 1000
  --first    Seed of the first story, 0 or more. Default 1
  --backend  Database of the hosts. Default memory
  --url      URL of an empty Postgres database, which the stories overwrite. Default: starts a server
  --shrinks  Number of stories that are tried to shorten one that breaks a promise, 0 to 10000.
             Default ${Backend.memory.shrinksMax} in memory, ${Backend.postgresShrinksMax} on Postgres
  --json     Print one line of JSON per story that breaks a promise, and one at the end
  --help     Print this text

Exit codes: 0 if every promise holds, 1 if one is broken, 2 if the options are not valid or the database is unavailable.
Progress goes to the standard error output. A broken seed is printed with a short story that breaks the promise too.`

/** The highest seed and number of stories. */
const numberMax = 10_000_000

/** The highest number of stories that are tried to shorten a failing one. */
const shrinksMax = 10_000

/** The options of the command line. */
const parse = () =>
  parseArgs({
    args: process.argv.slice(2),
    options: {
      seeds: { type: "string", default: "1000" },
      first: { type: "string", default: "1" },
      backend: { type: "string", default: "memory" },
      url: { type: "string" },
      shrinks: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  }).values

/** Replaces the line of progress, whose texts are shorter than 90 characters. */
const writeProgress = (text: string) => Effect.sync(() => void process.stderr.write(`\r${text.padEnd(90)}\r${text}`))

const backendOf = Effect.fnUntraced(function*(name: string, given: string | undefined) {
  if (name === "memory") return Backend.memory
  if (name !== "postgres") return yield* new InvalidOptions({ message: "--backend must be memory or postgres" })
  const url = given ?? (yield* startPostgres())
  return yield* Backend.makePostgres(url).pipe(
    Effect.mapError((cause) => new InvalidOptions({ message: `The database is unavailable: ${cause.reason._tag}` }))
  )
})

const program = Effect.gen(function*() {
  const { backend: name, first: firstText, help: isHelp, json, seeds, shrinks, url } = yield* readOptions(parse)
  if (isHelp) return yield* Effect.as(Console.log(help), 0)
  const count = yield* wholeNumber("seeds", seeds, 1, numberMax)
  const first = yield* wholeNumber("first", firstText, 0, numberMax)
  const limit = shrinks === undefined ? undefined : yield* wholeNumber("shrinks", shrinks, 0, shrinksMax)
  const backend = yield* backendOf(name, url)
  const onBroken = (broken: Stories.BrokenSeed) => {
    const { problems, seed, story } = broken
    return Effect.andThen(
      writeProgress(""),
      Console.log(json ? JSON.stringify({ seed, problems, story }) : `\r${broken.message}\n`)
    )
  }
  const onProgress = (told: number) =>
    told % 10 === 0 || told === count
      ? writeProgress(`${told} of ${count} stories`)
      : Effect.void
  const onShrink = ({ number, seed, shrinksMax }: Stories.Shrink) =>
    writeProgress(`The seed ${seed} breaks a promise: tries shorter story ${number} of at most ${shrinksMax}`)
  const startedAt = yield* Clock.currentTimeMillis
  const total = yield* Stories.checkAll({ first, count, backend, shrinksMax: limit, onShrink, onBroken, onProgress })
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
  process.stderr.write("\n")
  yield* Console.log(json ? JSON.stringify({ ...total, seconds }) : `${Stories.formatTotal(total)}, ${seconds} seconds`)
  return total.broken.length === 0 ? 0 : 1
}).pipe(
  Effect.scoped,
  Effect.catchTag("InvalidOptions", ({ message }) => Effect.as(Console.error(`${message}\n\n${help}`), 2))
)

process.exitCode = await Effect.runPromise(program)
