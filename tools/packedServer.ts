/** The server of Kinora, as a project has it that installed it from tarballs. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A server that runs. */
export interface PackedServer {
  readonly origin: string
  /** The key of its demo account. */
  readonly apiKey: string
  readonly stop: () => Promise<void>
}

/**
 * Starts the server of the project in `directory` with an embedded database, and `settings` in its environment. Rejects with
 * what the server printed if it ends before it is ready.
 */
export const start = async (
  directory: string,
  settings: Readonly<Record<string, string>> = {}
): Promise<PackedServer> => {
  const data = await mkdtemp(join(directory, "data-"))
  const env = { ...process.env, KINORA_PORT: "0", KINORA_DATA_DIR: data, ...settings }
  const program = join(directory, "node_modules/.bin/kinora-server")
  const server = spawn(program, ["--json"], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] })
  const ended = new Promise<void>((done) => server.once("close", () => done()))
  const stop = async () => {
    server.kill("SIGTERM")
    await ended
    await rm(data, { recursive: true, force: true })
  }
  let errors = ""
  server.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString()
  })
  for await (const line of createInterface({ input: server.stdout })) {
    const printed = line.startsWith("{\"base_url\":") ? JSON.parse(line) : undefined
    if (printed !== undefined) return { origin: printed.base_url, apiKey: printed.api_key, stop }
  }
  await stop()
  throw new Error(`The server did not start:\n${errors}`)
}
