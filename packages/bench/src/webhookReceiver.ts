/**
 * The receiver of the webhook benchmarks, in a process of its own. Below `/ok` it answers
 * at once, below `/never` never. `GET /arrivals` tells when each event first came to a
 * path that answers, on the clock of `Callers.now`, and forgets them. From `GET /release`
 * to `GET /hold` nothing is kept waiting, so that a sender can stop.
 *
 * `node webhookReceiver.ts`; says `{"base_url": …}` when it is ready.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Callers from "./Callers.ts"

/** By the number that the event carries. */
let arrivals = new Map<number, number>()
/** Those that never get an answer. */
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
  // A sender that goes away in the middle of a request is no concern of ours.
  receive(request, response).catch(() => response.destroy())
})
// Longer than senders keep connections.
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${address.port}` })}\n`)
})
process.on("SIGTERM", () => process.exit(0))
