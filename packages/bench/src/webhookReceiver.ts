/**
 * The receiver of the webhook benchmarks, in its own process. It responds below `/ok` at
 * once and below `/never` never. `GET /arrivals` returns and clears the time at which each
 * event first arrived below `/ok`, on the clock of `Callers.now`. From `GET /release` to
 * `GET /hold` requests below `/never` are closed, so that a sender can stop.
 *
 * `node webhookReceiver.ts` prints `{"base_url": …}` when it is ready.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Callers from "./Callers.ts"

/** Arrival times by the number of the event. */
let arrivals = new Map<number, number>()
/** Requests that get no response. */
const held = new Set<ServerResponse>()
let isHolding = true

const release = () => {
  isHolding = false
  for (const response of held) response.destroy()
  held.clear()
}

const readBody = async (request: IncomingMessage): Promise<{ readonly data: { readonly n: number } }> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.url?.startsWith("/never") === true) {
    request.resume()
    if (isHolding) held.add(response)
    else response.writeHead(503).end()
    return
  }
  switch (request.method === "GET" ? request.url : undefined) {
    case "/arrivals":
      response.end(JSON.stringify(Array.from(arrivals)))
      arrivals = new Map()
      return
    case "/hold":
      isHolding = true
      response.end()
      return
    case "/release":
      release()
      response.end()
      return
  }
  const at = Callers.now()
  const { data: { n } } = await readBody(request)
  if (!arrivals.has(n)) arrivals.set(n, at)
  response.writeHead(204).end()
}

const server = createServer((request, response) => {
  // A sender may close its connection during a request.
  receive(request, response).catch(() => response.destroy())
})
// Longer than senders keep idle connections.
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${address.port}` })}\n`)
})
process.on("SIGTERM", () => process.exit(0))
