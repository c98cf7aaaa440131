/** The benchmarks of another commit, in a working tree of its own with its dependencies. */
import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { attempt, type BenchmarkFailure, failingWith } from "./Benchmark.ts"
import type { Report } from "./Report.ts"

/** The root of the repository. */
export const root = resolve(import.meta.dirname, "../../..")

/** Returns the hash of a commit. */
export const commitOf = (ref: string): Effect.Effect<string, BenchmarkFailure> =>
  git("rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`).pipe(
    Effect.map((hash) => hash.trim()),
    failingWith(`There is no commit ${ref}`)
  )

/** Describes the commit of a working tree, with `-dirty` if anything but the stored results was changed. */
export const describe = (directory: string): Effect.Effect<string> =>
  Effect.gen(function*() {
    const commit = yield* execute("git", ["rev-parse", "--short=12", "HEAD"], directory)
    const others = [".", ...storedResults.map((path) => `:!${path}`)]
    const changed = yield* execute("git", ["status", "--porcelain", "--", ...others], directory)
    return `${commit.trim()}${changed === "" ? "" : dirty}`
  }).pipe(Effect.orElseSucceed(() => "unknown"))

/** Whether a description of a working tree names a commit that has all of its files. */
export const isCommit = (described: string): boolean => described !== "unknown" && !described.endsWith(dirty)

/** Checks out a commit and installs its dependencies. Returns its directory, which is removed when the scope closes. */
export const make = Effect.fnUntraced(function*(
  commit: string
): Effect.fn.Return<string, BenchmarkFailure, Scope.Scope> {
  const parent = yield* Effect.acquireRelease(
    attempt("No directory for the commit", () => mkdtemp(join(tmpdir(), "kinora-bench-commit-"))),
    (path) =>
      Effect.tryPromise(() => rm(path, { recursive: true, force: true, maxRetries: 5 })).pipe(
        // Git forgets the directory.
        Effect.andThen(git("worktree", "prune")),
        Effect.ignore
      )
  )
  const directory = join(parent, "repository")
  yield* failingWith(`${commit} cannot be checked out`)(
    git("worktree", "add", "--quiet", "--detach", directory, commit)
  )
  yield* failingWith(`The dependencies of ${commit} cannot be installed`)(
    execute("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], directory)
  )
  return directory
})

/** Rounds that warm up, unless a flag sets their number. */
export const warmUpsDefault = 1

/** Options of a run of one pair of rounds. */
export interface PairOptions {
  readonly chosen: ReadonlyArray<string>
  readonly seconds: number
  readonly warmUps: number
  /** The Postgres to use. */
  readonly url: string
}

/** Returns the arguments of the command for one pair of rounds, at any commit. */
export const pairArgs = ({ chosen, seconds, url, warmUps }: PairOptions): ReadonlyArray<string> => [
  ...chosen,
  "--pairs",
  "1",
  "--seconds",
  `${seconds}`,
  "--url",
  url,
  // Earlier commits do not have the flag.
  ...(warmUps === warmUpsDefault ? [] : ["--warm-ups", `${warmUps}`])
]

/** Runs the command of a directory and returns its report. */
export const bench = (directory: string, args: ReadonlyArray<string>): Effect.Effect<Report, BenchmarkFailure> => {
  const main = join(directory, "packages/bench/src/main.ts")
  return execute(process.execPath, ["--conditions=@kinora/source", main, ...args, "--json"], directory).pipe(
    failingWith(`The benchmarks in ${directory} failed`),
    Effect.flatMap((output) => attempt("The report is not JSON", async () => JSON.parse(output) as Report))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const dirty = "-dirty"

/** The files that `--save` writes. */
const storedResults = ["docs/reference/benchmarks.json", "docs/reference/benchmarks.md"]

const outputBytesMax = 64 * 1024 ** 2

/** Runs a program and returns its output. An interruption ends the program, and waits until it has ended. */
const execute = (command: string, args: ReadonlyArray<string>, cwd: string): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    const child = execFile(command, args, { cwd, maxBuffer: outputBytesMax }, (error, stdout) => {
      resume(error === null ? Effect.succeed(stdout) : Effect.fail(error))
    })
    const closed = new Promise((resolve) => child.once("close", resolve))
    return Effect.promise(async () => {
      // npm continues for minutes after a SIGTERM, and what it writes is removed anyway.
      child.kill(command === "npm" ? "SIGKILL" : "SIGTERM")
      await closed
    })
  })

const git = (...args: ReadonlyArray<string>): Effect.Effect<string, Error> => execute("git", args, root)
