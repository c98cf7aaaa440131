/**
 * Global setup of the tests: bundles the programs that `Program.start` and the benchmarks start, and makes the embedded
 * database that they start with. Does nothing if the run starts no program.
 */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { bundle } from "./bundle.ts"
import { repository } from "./repository.ts"

/** Sources of the programs, relative to the repository. */
const programs = [
  "hosts/server/src/main.ts",
  "hosts/worker/src/main.ts",
  "hosts/cli/src/main.ts",
  "packages/acceptance/src/takeover/worker.ts",
  "packages/acceptance/test/webhookDrillHost.process.ts"
]

/** Tests that start them. */
const starters = [
  "packages/acceptance/test",
  "packages/bench/test",
  "hosts/cli/test/host",
  "packages/hosting/test/docs/operateTutorial"
].map((path) => join(repository, path))

/** Vitest's project: what is used of it. */
interface Project {
  readonly vitest: { readonly state: { readonly getPaths: () => ReadonlyArray<string> } }
  readonly provide: (name: "hostPgliteDump", path: string) => void
}

export default async function({ provide, vitest }: Project): Promise<void> {
  // The test files of this run.
  const paths = vitest.state.getPaths()
  if (!starters.some((starter) => paths.some((path) => path.startsWith(starter)))) return
  const { directory } = await bundle({
    programs,
    cache: join(repository, "node_modules/.cache/kinora-tested-programs"),
    days: 1
  })
  // `Program` reads it in Vitest's workers. Hosts reject unknown variables named KINORA_*.
  process.env["ACCEPTANCE_PROGRAMS"] = directory
  provide("hostPgliteDump", await migratedDump(directory))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const execute = promisify(execFile)

/**
 * Returns the archive of an embedded database with the tables of the bundled programs, next to them. A first start without
 * it costs a second of processor time more.
 */
const migratedDump = async (bundle: string): Promise<string> => {
  const path = join(bundle, "pglite.tar")
  if (existsSync(path)) return path
  const partial = await mkdtemp(join(bundle, "partial-"))
  const environment = {
    PATH: process.env["PATH"],
    KINORA_DATA_DIR: join(partial, "data"),
    // Otherwise the command keeps its compiled modules in the home of the user.
    NODE_COMPILE_CACHE: join(bundle, "compiled")
  }
  await execute(process.execPath, [join(bundle, "hosts/cli/src/main.js"), "migrate"], { env: environment })
  const archive = join(partial, "pglite.tar")
  await execute("tar", ["--create", "--file", archive, "--directory", join(partial, "data/database"), "."])
  await rename(archive, path)
  await rm(partial, { recursive: true })
  return path
}
