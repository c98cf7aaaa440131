/** A shell that runs the commands of a page one after the other, as a reader does. */
import { Effect, Queue } from "effect"
import { spawn } from "node:child_process"

/** The output of a command on both streams, and its exit code. */
export interface Printed {
  readonly output: string
  readonly code: number
}

/** Starts a shell with these variables. It ends, with the programs that it runs, when the scope closes. */
export const start = Effect.fnUntraced(function*(directory: string, env: Readonly<Record<string, string>>) {
  const shell = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("bash", { cwd: directory, env, detached: true })),
    // A shell does not pass signals on, so its group is killed.
    ({ pid }) => Effect.sync(() => pid !== undefined && process.kill(-pid, "SIGKILL"))
  )
  const printed = yield* Queue.unbounded<string>()
  shell.stdout.setEncoding("utf8").on("data", (text: string) => Queue.offerUnsafe(printed, text))
  shell.stdin.write("exec 2>&1\n")

  /** Reads until the output matches. */
  const readUntil = Effect.fnUntraced(function*(pattern: RegExp) {
    for (let output = "";; output += yield* Queue.take(printed)) {
      const match = pattern.exec(output)
      if (match !== null) return match
    }
  })

  return {
    /** Runs a command that does not end, and waits until it prints a text. */
    launch: Effect.fnUntraced(function*(command: string, ready: string) {
      shell.stdin.write(`${command}\n`)
      yield* readUntil(new RegExp(ready))
    }),
    /** Runs a command to its end. */
    run: Effect.fnUntraced(function*(command: string) {
      shell.stdin.write(`${command}\nprintf '<exit %s>' $?\n`)
      const [, output = "", code] = yield* readUntil(/^(.*)<exit (\d+)>$/s)
      return { output: output.trim(), code: Number(code) } satisfies Printed
    })
  }
})
