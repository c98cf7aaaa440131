/** The pages of the console, as a server serves them that is installed from tarballs. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Starts the server of a project with an embedded database, and returns what is wrong with the pages that it serves. */
export const problemsOf = async (directory: string): Promise<ReadonlyArray<string>> => {
  const data = await mkdtemp(join(directory, "data-"))
  const env = { ...process.env, KINORA_PORT: "0", KINORA_DATA_DIR: data, KINORA_WORKERS: "0" }
  const program = join(directory, "node_modules/.bin/kinora-server")
  const server = spawn(program, ["--json"], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] })
  const ended = new Promise<void>((done) => server.once("close", () => done()))
  let errors = ""
  server.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString()
  })
  try {
    const origin = await originOf(server.stdout)
    return origin === undefined ? [`The server did not start:\n${errors}`] : await problemsAt(origin)
  } finally {
    server.kill("SIGTERM")
    await ended
    await rm(data, { recursive: true, force: true })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The address that a start prints as a line of JSON; `undefined` if the program ends before. */
const originOf = async (output: NodeJS.ReadableStream): Promise<string | undefined> => {
  for await (const line of createInterface({ input: output })) {
    const address = /"base_url":\s*"([^"]+)"/.exec(line)?.[1]
    if (address !== undefined) return address
  }
  return undefined
}

const problemsAt = async (origin: string): Promise<ReadonlyArray<string>> => {
  const page = await fetch(`${origin}/console/`)
  const text = await page.text()
  const paths = Array.from(text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g), ([, path = ""]) => path)
  if (page.status !== 200 || paths.length === 0) return [`GET /console/ returned ${page.status}: ${text.slice(0, 200)}`]
  const files = await Promise.all(
    paths.map(async (path) => ({ path, status: (await fetch(`${origin}${path}`)).status }))
  )
  return files.filter(({ status }) => status !== 200).map(({ path, status }) => `GET ${path} returned ${status}`)
}
