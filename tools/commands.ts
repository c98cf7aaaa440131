/** Commands of this workspace and of the machine. */
import { execFile } from "node:child_process"
import { join, resolve } from "node:path"

/** The directory of the workspace. */
export const root = resolve(import.meta.dirname, "..")

/** How a command ended. */
interface Outcome {
  readonly passed: boolean
  readonly stdout: string
  /** The text of both outputs. */
  readonly output: string
}

/** Runs a program of this workspace's `node_modules/.bin`, or of the machine. */
export const run = (command: string, args: ReadonlyArray<string>, cwd = root): Promise<Outcome> =>
  new Promise((done) => {
    const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`, NO_COLOR: "1" }
    execFile(
      command,
      args,
      { cwd, env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => done({ passed: error === null, stdout, output: `${stdout}${stderr}`.trim() })
    )
  })

/** Runs a program and returns its output. Fails with an `Error` that has the output if the program failed. */
export const expectSuccess = async (command: string, args: ReadonlyArray<string>, cwd?: string): Promise<string> => {
  const { output, passed, stdout } = await run(command, args, cwd)
  if (!passed) throw new Error(`\`${[command, ...args].join(" ")}\` failed:\n${output}`)
  return stdout
}
