/** Readers that open a download and do not read it. */
import { ask, type Attack, jsonHeaders } from "./Attack.ts"
import { models } from "./models.ts"
import { openStalled } from "./openStalled.ts"

/** Number of connections, twice as many as an account can have. Half of them use a signed URL, the others the key. */
const connections = 32

/** Opens downloads of a large result. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const body = JSON.stringify({ plan: "credits", model: models.large.id, params: { prompt: "bytes" } })
  const created = await ask(origin, { method: "POST", path: "/v1/generations", headers: jsonHeaders(key), body })
  const path = `/v1/generations/${JSON.parse(created).id}`
  const { output } = JSON.parse(
    await ask(origin, { method: "GET", path: `${path}?wait=60`, headers: jsonHeaders(key) })
  )
  const { pathname, search } = new URL(output.url)
  const requests = [
    `GET ${pathname}${search} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
    `GET ${path}/content HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`
  ]
  return (tally, signal) =>
    openStalled({ origin, connections, tally, signal, bytesOf: (n) => requests[n % requests.length] ?? "" })
}
