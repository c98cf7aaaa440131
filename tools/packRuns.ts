/** Runs blocks of READMEs, which end or serve until they are stopped. */
import { spawn } from "node:child_process"
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as EmbeddedPostgres from "../packages/testkit/src/EmbeddedPostgres.ts"
import { root } from "./commands.ts"
import { inParallel } from "./inParallel.ts"
import { compile, folderOf, type Installation, type PackedReadme } from "./packBlocks.ts"
import { npmFolder, oldestNode } from "./packInstalls.ts"
import * as readmeBlocks from "./readmeBlocks.ts"

/** Problems, and blocks that do not run, by the name of the package. */
export interface Blocks {
  readonly compiled: ReadonlyMap<string, ReadonlyArray<string>>
  readonly ran: ReadonlyMap<string, ReadonlyArray<string>>
  readonly notRun: ReadonlyMap<string, ReadonlyArray<string>>
}

/**
 * Compiles all blocks, then runs those that need at most a Postgres, each with an empty database, as each package manager
 * installed them in a folder of `directory`.
 */
export const checkAll = async (
  all: ReadonlyArray<PackedReadme>,
  installations: ReadonlyArray<Installation>,
  directory: string
): Promise<Blocks> => {
  const readmes = all.filter(({ blocks }) => blocks.length > 0)
  if (readmes.length === 0) return { compiled: new Map(), ran: new Map(), notRun: new Map() }
  const npm = join(directory, npmFolder)
  const compiled = await Promise.all(installations.map((installation) => compile(readmes, installation, npm)))
  const programs = [
    ["24", join(root, "node_modules/node/bin/node")],
    ["22", join(npm, "node_modules", oldestNode, "bin/node")]
  ] as const
  const runs = readmes.flatMap((readme) =>
    readme.blocks.filter((block) => reasonNotToRun(block) === undefined).flatMap((block) =>
      installations.flatMap((installation) =>
        programs.map(([version, path]) => ({ readme, block, installation, version, node: path }))
      )
    )
  )
  const problems = await runAll(runs)
  const each = (of: (readme: PackedReadme) => ReadonlyArray<string>) =>
    new Map(readmes.map((readme) => [readme.name, of(readme)]))
  return {
    compiled: each((readme) => [...notInstalled(readme), ...compiled.flatMap((found) => found.get(readme.name) ?? [])]),
    ran: each((readme) => [
      ...problems.filter((one) => one.readme === readme).flatMap((one) => one.problems),
      ...(readme.blocks[0]?.shown.length === 0 ? ["The first block shows nothing that it prints"] : [])
    ]),
    notRun: each(({ blocks }) =>
      blocks.flatMap((block) => {
        const reason = reasonNotToRun(block)
        return reason === undefined ? [] : [`${block.file} ${reason}`]
      })
    )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A run of a block. */
interface BlockRun {
  readonly readme: PackedReadme
  readonly block: readmeBlocks.ReadmeBlock
  readonly installation: Installation
  /** The version of Node, for messages. */
  readonly version: string
  /** The path of Node. */
  readonly node: string
}

const runAll = async (runs: ReadonlyArray<BlockRun>) => {
  const data = await mkdtemp(join(tmpdir(), "kinora-pack-postgres-"))
  // A server that root starts runs as another user.
  await chmod(data, 0o755)
  const server = await EmbeddedPostgres.start(data, { fsync: "off", synchronous_commit: "off" })
  try {
    // Blocks that listen on the same port run one after the other.
    const groups = [
      runs.filter(({ block }) => hasFixedPort(block)),
      ...runs.filter(({ block }) => !hasFixedPort(block))
        .map((one) => [one])
    ]
    const results = await inParallel([...groups.entries()], async ([group, members]) => {
      const found: Array<{ readonly readme: PackedReadme; readonly problems: ReadonlyArray<string> }> = []
      for (const [index, one] of members.entries()) {
        const databaseUrl = await server.createDatabase(`block_${group}_${index}`)
        await pause(readmeBlocks.untilWindowHasTime(one.block, Date.now()))
        found.push({ readme: one.readme, problems: await runBlock(one, databaseUrl) })
      }
      return found
    })
    return results.flat()
  } finally {
    await server.stop()
    await rm(data, { recursive: true, force: true })
  }
}

/** The imports that the README does not install. A reader would not have these packages. */
const notInstalled = ({ blocks }: PackedReadme): ReadonlyArray<string> =>
  blocks.flatMap((block) =>
    block.notInstalled.map((name) => `${block.file} imports ${name}, and no \`npm install\` before it names it`)
  )

/** Returns why a block is compiled and not run; `undefined` if it runs. */
const reasonNotToRun = ({ specifiers, variables }: readmeBlocks.ReadmeBlock): string | undefined => {
  const missing = variables.filter((name) => !provided.has(name))
  if (missing.length > 0) return `reads ${missing.join(", ")}`
  return specifiers.some((self) => /vitest$|\/testing$/.test(self)) ? "is a test" : undefined
}

/** Whether a block listens on a port of its choice, so that no other may run at the same time. */
const hasFixedPort = ({ code }: readmeBlocks.ReadmeBlock): boolean => /\b(?:3000|4747|8080)\b/.test(code)

/**
 * Runs a block and compares what it prints with the README. A block with an `export` is imported. A block that serves is stopped
 * when it has listened and printed all. Returns what is wrong.
 */
const runBlock = async (
  { block, installation, node, readme, version }: BlockRun,
  databaseUrl: string
): Promise<ReadonlyArray<string>> => {
  const folder = join(installation.directory, folderOf(readme.name))
  const files = join(folder, `files-${version}-${block.file}`)
  await mkdir(files, { recursive: true })
  const environment = { DATABASE_URL: databaseUrl, FILES: files }
  const { outcome, stderr, stdout } = await execute(node, block, folder, environment)
  const problems = outcome === undefined ? readmeBlocks.differences(block.shown, stdout) : [outcome, stdout, stderr]
  return problems.map((problem) => `${block.file}, ${installation.manager}, Node ${version}: ${problem}`)
}

/** The environment variables that every block has. */
const provided = new Set(["DATABASE_URL", "FILES"])

const runMillisMax = 60_000

/** A block that has nothing left to do ends within this time, so one that still listens afterwards is a server. */
const serveMillis = 1_500

/** Writes a line to the file descriptor 3 when the program listens on a port. */
const listenHook = `data:text/javascript,${
  encodeURIComponent(`import { writeSync } from "node:fs"
import { Server } from "node:net"
const { listen } = Server.prototype
Server.prototype.listen = function(...args) {
  this.once("listening", () => writeSync(3, "listening\\n"))
  return listen.apply(this, args)
}`)
}`

/** Imports a module. Its timers and connections serve the program that imports it, so they do not end. */
const load = `await import(process.cwd() + "/" + process.argv[1])
process.exit()`

interface Ended {
  /** Why the run failed. */
  readonly outcome: string | undefined
  readonly stdout: string
  readonly stderr: string
}

const execute = (
  node: string,
  block: readmeBlocks.ReadmeBlock,
  cwd: string,
  environment: Readonly<Record<string, string>>
): Promise<Ended> =>
  new Promise((done) => {
    const script = /^export /m.test(block.code) ? ["--input-type=module", "--eval", load, block.file] : [block.file]
    const child = spawn(node, ["--import", listenHook, ...script], {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe", "pipe"]
    })
    const printed = { stdout: "", stderr: "" }
    const state = { listens: false, stopped: false, late: false }
    let serving: NodeJS.Timeout | undefined
    const stopServer = () => {
      if (!state.listens || readmeBlocks.differences(block.shown, printed.stdout).length > 0) return
      serving ??= setTimeout(() => {
        state.stopped = true
        child.kill("SIGTERM")
      }, serveMillis)
    }
    const deadline = setTimeout(() => {
      state.late = true
      child.kill("SIGKILL")
    }, runMillisMax)
    child.stdout?.on("data", (data) => {
      printed.stdout += String(data)
      stopServer()
    })
    child.stderr?.on("data", (data) => {
      printed.stderr += String(data)
    })
    child.stdio[3]?.on("data", () => {
      state.listens = true
      stopServer()
    })
    child.on("close", (code) => {
      clearTimeout(serving)
      clearTimeout(deadline)
      const outcome = state.late
        ? `did not end within ${runMillisMax / 1_000} s`
        : code === 0 || state.stopped
        ? undefined
        : `ended with code ${code}`
      done({ outcome, ...printed })
    })
  })
