/** The server that a README starts, and the `curl` commands that the README sends to it. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import * as TestDatabase from "./TestDatabase.ts"

/**
 * Declares the test of an example: starts `src/main.ts` in its folder on an empty Postgres, sends the commands of its README in
 * their order, compares the responses with the comments after the commands, and ends the process with SIGTERM.
 *
 * `…` in a comment stands for letters, digits, `_` and `-`. A line `NAME=…` after a comment gives the commands that follow the field
 * `name` of the response as `$NAME`.
 */
export const suite = (folder: URL, { commands }: { readonly commands: number }): void =>
  it("the commands of the README print what it shows, and the process ends when it is asked to", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const { exchanges, exitCode } = yield* Effect.promise(() => run(folder, databaseUrl))
      for (const { body, shown } of exchanges) assert.match(body, patternOf(shown))
      assert.strictEqual(exchanges.length, commands)
      assert.strictEqual(exitCode, 0)
    }))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A `curl` command of a README. */
interface Exchange {
  /** The comment in the line after the command; empty without one. */
  readonly shown: string
  /** The body of the response of the server. */
  readonly body: string
}

/** Returns the commands with the responses, and the exit code of the process. The server prints its URL first. */
const run = async (
  folder: URL,
  databaseUrl: string
): Promise<{ readonly exchanges: ReadonlyArray<Exchange>; readonly exitCode: number | null }> => {
  const readme = await readFile(new URL("README.md", folder), "utf8")
  const commands = [...readme.matchAll(/^curl (.*)\n(?:# (.*)\n)?((?:[A-Z]+=.*\n)*)/gm)]
  const main = fileURLToPath(new URL("src/main.ts", folder))
  const server = spawn(process.execPath, ["--conditions=@kinora/source", main], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exit = once(server, "exit")
  const exchanges: Array<Exchange> = []
  const variables = new Map<string, string>()
  try {
    const url = await Promise.race([urlOf(server), exit])
    if (typeof url !== "string") throw new Error("The server ended before it printed its URL")
    for (const [, command = "", shown = "", assignments = ""] of commands) {
      const body = await send(command.replaceAll(/\$([A-Z]+)/g, (_, name: string) => variables.get(name) ?? ""), url)
      for (const [name] of assignments.matchAll(/^[A-Z]+/gm)) variables.set(name, JSON.parse(body)[name.toLowerCase()])
      exchanges.push({ shown, body })
    }
  } finally {
    server.kill("SIGTERM")
  }
  const [exitCode] = await exit
  return { exchanges, exitCode }
}

/** Returns what matches a response that is as the README shows it. */
const patternOf = (shown: string): RegExp =>
  new RegExp(`^${shown.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[\\w-]+")}$`)

const urlOf = async ({ stdout }: ChildProcess & { readonly stdout: Readable }): Promise<string> => {
  const [line] = await once(createInterface(stdout), "line")
  const url = /http:\S+/.exec(String(line))?.[0]
  if (url === undefined) throw new Error(`The server has to print its URL first, but printed "${line}"`)
  return url
}

const send = async (command: string, url: string): Promise<string> => {
  const path = /^http:\/\/127\.0\.0\.1:3000(\S+)/.exec(command)?.[1]
  if (path === undefined) throw new Error(`The command has no URL of the server: ${command}`)
  const json = / --json '(.*)'$/.exec(command)?.[1]
  const headers = [...command.matchAll(/ -H (['"])(\S+): (.*?)\1/g)].map(([, , name = "", value = ""]) =>
    [name, value] as const
  )
  const response = await fetch(`${url}${path}`, {
    method: / -X (\S+)/.exec(command)?.[1] ?? (json === undefined ? "GET" : "POST"),
    // A server ends when its connections have ended.
    headers: [
      ["connection", "close"],
      ...json === undefined ? [] : [["content-type", "application/json"]],
      ...headers
    ] as Array<[string, string]>,
    ...json === undefined ? {} : { body: json }
  })
  return response.text()
}
