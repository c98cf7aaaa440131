/** The benchmarks of another commit, in a working tree of its own with its dependencies. */
import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { attempt, type BenchmarkFailure } from "./Benchmark.ts"
import type { Report } from "./Report.ts"

/** The root of the repository. */
export const root = resolve(import.meta.dirname, "../../..")

/** Checks out a commit and installs its dependencies. Returns its directory, which is removed when the scope closes. */
export const make = Effect.fnUntraced(function*(
  ref: string
): Effect.fn.Return<string, BenchmarkFailure, Scope.Scope> {
  const commit = yield* attempt(`There is no commit ${ref}`, async () => {
    const { stdout } = await git("rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`)
    return stdout.trim()
  })
  const parent = yield* Effect.acquireRelease(
    attempt("No directory for the commit", () => mkdtemp(join(tmpdir(), "kinora-bench-commit-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const directory = join(parent, "repository")
  yield* Effect.acquireRelease(
    attempt(`${ref} cannot be checked out`, () => git("worktree", "add", "--quiet", "--detach", directory, commit)),
    () => Effect.promise(() => git("worktree", "remove", "--force", directory))
  )
  yield* attempt(
    `The dependencies of ${ref} cannot be installed`,
    () => execute("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: directory })
  )
  return directory
})

/** Runs the command of a directory and returns its report. */
export const bench = (directory: string, args: ReadonlyArray<string>): Effect.Effect<Report, BenchmarkFailure> =>
  attempt(`The benchmarks in ${directory} failed`, async () => {
    const main = join(directory, "packages/bench/src/main.ts")
    const { stdout } = await execute(process.execPath, ["--conditions=@kinora/source", main, ...args, "--json"], {
      cwd: directory,
      maxBuffer: reportBytesMax
    })
    return JSON.parse(stdout) as Report
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const execute = promisify(execFile)

const reportBytesMax = 64 * 1024 ** 2

const git = (...args: ReadonlyArray<string>) => execute("git", ["-C", root, ...args])
