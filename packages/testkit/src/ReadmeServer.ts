/** The server that a README starts, and the `curl` commands that the README sends to it. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

/** A `curl` command of a README. */
export interface Exchange {
  readonly command: string
  /** The comment in the line after the command; empty without one. */
  readonly shown: string
  /** The body of the response of the server. */
  readonly body: string
}

/** Options of `run`. */
export interface ReadmeServerOptions {
  /** The file of the README. */
  readonly readme: URL
  /** The module that starts the server, which prints its URL first. */
  readonly main: URL
  /** Variables of the process. `PORT` is 0. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Starts the server, sends the commands to it in their order, and ends the process with SIGTERM. Returns the commands with
 * the responses, and the exit code of the process.
 */
export const run = async (
  { environment, main, readme }: ReadmeServerOptions
): Promise<{ readonly exchanges: ReadonlyArray<Exchange>; readonly exitCode: number | null }> => {
  const commands = [...(await readFile(readme, "utf8")).matchAll(/^curl (.*)\n(?:# (.*)\n)?/gm)]
  const server = spawn(process.execPath, ["--conditions=@kinora/source", fileURLToPath(main)], {
    env: { ...process.env, ...environment, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exit = once(server, "exit")
  const exchanges: Array<Exchange> = []
  try {
    const url = await Promise.race([urlOf(server), exit])
    if (typeof url !== "string") throw new Error("The server ended before it printed its URL")
    for (const [, command = "", shown = ""] of commands) {
      exchanges.push({ command, shown, body: await send(command, url) })
    }
  } finally {
    server.kill("SIGTERM")
  }
  const [exitCode] = await exit
  return { exchanges, exitCode }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const urlOf = async ({ stdout }: ChildProcess & { readonly stdout: Readable }): Promise<string> => {
  const [line] = await once(createInterface(stdout), "line")
  const url = /http:\S+/.exec(String(line))?.[0]
  if (url === undefined) throw new Error(`The server printed "${line}" and not its URL`)
  return url
}

const send = async (command: string, url: string): Promise<string> => {
  const path = /^http:\/\/127\.0\.0\.1:3000(\S+)/.exec(command)?.[1]
  if (path === undefined) throw new Error(`The command has no URL of the server: ${command}`)
  const json = / --json '(.*)'$/.exec(command)?.[1]
  const headers = [...command.matchAll(/ -H '(\S+): (.*?)'/g)].map(([, name = "", value = ""]) =>
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
