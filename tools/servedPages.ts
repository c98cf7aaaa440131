/** The pages of the console, as a server serves them that is installed from tarballs. */
import * as packedServer from "./packedServer.ts"

/** Starts the server of a project, and returns what is wrong with the pages that it serves. */
export const problemsOf = async (directory: string): Promise<ReadonlyArray<string>> => {
  const server = await packedServer.start(directory, { KINORA_WORKERS: "0" }).catch(String)
  if (typeof server === "string") return [server]
  try {
    return await problemsAt(server.origin)
  } finally {
    await server.stop()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
