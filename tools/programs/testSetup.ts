/**
 * Global setup of the tests: bundles the programs that `Program.start` and the benchmarks start. Does nothing if the run
 * starts no program.
 */
import { join } from "node:path"
import { bundle } from "./bundle.ts"
import { repository } from "./repository.ts"

/** Sources of the programs, relative to the repository. */
const programs = [
  "hosts/server/src/main.ts",
  "hosts/worker/src/main.ts",
  "hosts/cli/src/main.ts",
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
}

export default async function({ vitest }: Project): Promise<void> {
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
}
