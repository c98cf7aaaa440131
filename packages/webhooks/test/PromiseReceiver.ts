/** A receiver on this machine that keeps what it received, for tests of programs without Effect. */
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  /** Returns what it received. */
  readonly received: ReadonlyArray<Received>
  /** Waits until it has received this many requests. */
  readonly until: (count: number) => Promise<void>
}

export const open = async (): Promise<Receiver> => {
  const received: Array<Received> = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.push({ headers: request.headers, body })
    response.writeHead(204).end()
    server.emit("received")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    until: async (count) => {
      while (received.length < count) await once(server, "received")
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
