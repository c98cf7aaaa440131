/** Runs blocks of READMEs: programs, which end or serve until they are stopped, and tests. */
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { root } from "./commands.ts"
import { inParallel } from "./inParallel.ts"
import { compile, folderOf, type Installation, type PackedReadme, vitestConfig } from "./packBlocks.ts"
import { npmFolder, oldestNode } from "./packInstalls.ts"
import * as packServices from "./packServices.ts"
import * as readmeBlocks from "./readmeBlocks.ts"

/** Problems, and blocks that do not run, by the name of the package. */
export interface Blocks {
  readonly compiled: ReadonlyMap<string, ReadonlyArray<string>>
  readonly ran: ReadonlyMap<string, ReadonlyArray<string>>
  readonly notRun: ReadonlyMap<string, ReadonlyArray<string>>
}

/**
 * Compiles all blocks, then runs them as each package manager installed them in a folder of `directory`, beside the services
 * that they use.
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
    readme.blocks.filter((block) => packServices.missingFor(block) === undefined).flatMap((block) =>
      installations.flatMap((installation) =>
        programs.map(([version, path]) => ({ readme, block, installation, version, node: path }))
      )
    )
  )
  const problems = await runAll(runs, npm)
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
        const reason = packServices.missingFor(block)
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

const runAll = async (runs: ReadonlyArray<BlockRun>, npm: string) => {
  const services = await packServices.open(runs.map(({ block }) => block), npm)
  try {
    // One after the other: blocks that listen on the same port, and those of a folder, which can use the same files.
    const groups = Map.groupBy(runs, (one) => hasFixedPort(one.block) ? "port" : cwdOf(one)).values()
    const results = await inParallel(Array.from(groups), async (members) => {
      const found: Array<{ readonly readme: PackedReadme; readonly problems: ReadonlyArray<string> }> = []
      for (const one of members) {
        const environment = await services.environmentFor(one.block)
        await pause(readmeBlocks.untilWindowHasTime(one.block, Date.now()))
        found.push({ readme: one.readme, problems: await runBlock(one, environment) })
      }
      return found
    })
    return results.flat()
  } finally {
    await services.close()
  }
}

/** The imports that the README does not install. A reader would not have these packages. */
const notInstalled = ({ blocks }: PackedReadme): ReadonlyArray<string> =>
  blocks.flatMap((block) =>
    block.notInstalled.map((name) => `${block.file} imports ${name}, and no \`npm install\` before it names it`)
  )

/** The folder of a README in an installation, in which its blocks run. */
const cwdOf = ({ installation, readme }: Pick<BlockRun, "installation" | "readme">): string =>
  join(installation.directory, folderOf(readme.name))

/** Whether a block listens on a port of its choice, so that no other may run at the same time. */
const hasFixedPort = ({ code }: readmeBlocks.ReadmeBlock): boolean => /\b(?:3000|4747|8080)\b/.test(code)

/**
 * Runs a block and returns what is wrong. What a program prints is compared with the README. A block with an `export` is
 * imported. A block that serves is stopped when it has listened and printed all. A test has to pass.
 */
const runBlock = async (
  { block, installation, node, readme, version }: BlockRun,
  environment: Readonly<Record<string, string>>
): Promise<ReadonlyArray<string>> => {
  const { outcome, stderr, stdout } = await execute(node, block, cwdOf({ installation, readme }), environment)
  const printed = block.isTest ? [] : readmeBlocks.differences(block.shown, stdout)
  const problems = outcome === undefined ? printed : [outcome, stdout, stderr]
  return problems.map((problem) => `${block.file}, ${installation.manager}, Node ${version}: ${problem}`)
}

const runMillisMax = 120_000

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

/** The arguments of Node in the folder of a README. Vitest fails if it finds no test in the file. */
const argumentsFor = ({ code, file, isTest }: readmeBlocks.ReadmeBlock, folder: string): ReadonlyArray<string> => {
  if (isTest) {
    const vitest = dirname(createRequire(join(folder, file)).resolve("vitest/package.json"))
    return [join(vitest, "vitest.mjs"), "run", "--config", vitestConfig, file]
  }
  const script = /^export /m.test(code) ? ["--input-type=module", "--eval", load, file] : [file]
  return ["--import", listenHook, ...script]
}

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
    const child = spawn(node, argumentsFor(block, cwd), {
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
