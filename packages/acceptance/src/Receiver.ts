/**
 * Receives webhooks over HTTPS, with a certificate of a test authority. Stores each byte by byte, and verifies it with
 * Stripe's SDK and with `@kinora/webhook-signing`. If a webhook is not valid, closing the receiver throws.
 */
import type * as Certificates from "@kinora/testkit/Certificates"
import { Clock, Effect } from "effect"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { pipeline } from "node:stream/promises"
import * as Verification from "./Verification.ts"

/** Options of a receiver. */
export interface ReceiverOptions {
  readonly certificate: Certificates.Certificate
  /** Default: a free port. */
  readonly port?: number | undefined
  /** Time at which timestamps are verified. Default: the time of this machine. */
  readonly now?: (() => Date) | undefined
}

/** A received webhook. */
export interface Arrival {
  /** When it was received completely, in Unix milliseconds of this machine. */
  readonly at: number
  readonly method: string
  /** Names as they were sent. */
  readonly headerNames: ReadonlyArray<string>
  readonly headers: Headers
  /** The raw bytes. */
  readonly body: Uint8Array
  /** When the exchange ended, in Unix milliseconds of this machine. */
  readonly ended: Promise<number>
}

/** Response to a webhook: a status, none, a reset connection, or bytes that are not HTTP. */
export type Answer =
  | {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
    /** Delay of the response on this machine. Default: none. */
    readonly afterMillis?: number
  }
  | "hang"
  | "reset"
  | "nonsense"
  /** 200 with a body without end. */
  | "endless"

/** Chooses the response to a webhook. `n` is its index in the inbox. */
export type Script = (arrival: Arrival, n: number) => Answer

/** Secrets that verify webhooks. Webhooks that arrive before the promise resolves wait for it. */
export type Secrets = ReadonlyArray<string> | Promise<ReadonlyArray<string>>

/** How many of the secrets must verify. */
export type Quorum = Verification.Quorum

/** An address of the receiver. */
export interface Inbox {
  readonly url: string
  /** Received webhooks, oldest first. */
  readonly arrivals: ReadonlyArray<Arrival>
  /** Sets the secrets that verify webhooks from now on. */
  readonly trust: (secrets: Secrets, by?: Quorum) => void
  /** Sets the responses from now on. */
  readonly answer: (script: Script) => void
  /** Waits for a number of webhooks, or for a condition. Returns all received ones. */
  readonly until: (
    isEnough: number | ((arrivals: ReadonlyArray<Arrival>) => boolean)
  ) => Promise<ReadonlyArray<Arrival>>
}

/** A running receiver. Disposing of it closes all connections, and throws if a webhook was not valid. */
export interface Receiver extends AsyncDisposable {
  readonly port: number
  /** Creates a new address. Default response: 200. */
  readonly inbox: (script?: Script) => Inbox
  /** Number of accepted connections, including those without a request. */
  readonly connections: () => number
  /** Why webhooks were not valid, as sentences. */
  readonly problems: () => ReadonlyArray<string>
  /** Closes without an error if a webhook was not valid. */
  readonly close: () => Promise<void>
}

/** Starts a receiver on this machine. */
export const start = async ({ certificate, now = liveDate, port = 0 }: ReceiverOptions): Promise<Receiver> => {
  const inboxes = new Map<string, OpenInbox>()
  const problems: Array<string> = []
  let connections = 0

  const server = createServer(certificate, (request, response) => {
    take(request, response).catch((error: unknown) => {
      problems.push(`${request.method} ${request.url}: ${String(error)}`)
      response.destroy()
    })
  })
  // Counted before TLS, because a sender that blocks the address does not start TLS.
  server.on("connection", () => connections++)
  server.on("tlsClientError", () => {})

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const ended = once(response, "close").then(liveMillis)
    const inbox = inboxes.get(request.url ?? "")
    const body = await bytesOf(request).catch(() => undefined)
    // The sender disconnected before the end of the body.
    if (body === undefined) return
    if (inbox === undefined) {
      problems.push(`${request.method} ${request.url} is nobody's address`)
      return void response.writeHead(404).end()
    }
    const arrival: Arrival = {
      at: liveMillis(),
      method: request.method ?? "",
      headerNames: request.rawHeaders.filter((_, n) => n % 2 === 0),
      headers: headersOf(request),
      body,
      ended
    }
    const header = arrival.headers.get(signatureHeader)
    problems.push(...await Verification.problemsOf({ body, header, at: now() }, await inbox.secrets, inbox.quorum))
    const answer = inbox.script(arrival, inbox.arrivals.length)
    inbox.arrivals.push(arrival)
    inbox.look()
    await respond(request, response, answer)
  }

  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  // A server that listens on TCP has such an address.
  const { port: bound } = server.address() as AddressInfo

  const close = async () => {
    const closed = once(server, "close")
    server.close()
    server.closeAllConnections()
    await closed
  }
  return {
    port: bound,
    inbox: (script = accept) => {
      const path = `/inbox/${inboxes.size + 1}`
      const inbox = openInbox(`https://localhost:${bound}${path}`, script)
      inboxes.set(path, inbox)
      return inbox
    },
    connections: () => connections,
    problems: () => [...problems],
    close,
    [Symbol.asyncDispose]: async () => {
      await close()
      if (problems.length > 0) throw new Error(`Webhooks that do not verify:\n${problems.join("\n")}`)
    }
  }
}

/** JSON of a webhook. */
export const jsonOf = ({ body }: Arrival): unknown => JSON.parse(new TextDecoder().decode(body))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const signatureHeader = "x-service-signature"

const accept: Script = () => ({ status: 200 })

const clock = Clock.Clock.defaultValue()
const liveMillis = () => clock.currentTimeMillisUnsafe()
const liveDate = () => new Date(liveMillis())

interface OpenInbox extends Inbox {
  readonly arrivals: Array<Arrival>
  readonly secrets: Secrets
  readonly quorum: Quorum
  readonly script: Script
  /** Resolves waiting calls whose condition holds. */
  readonly look: () => void
}

const openInbox = (url: string, first: Script): OpenInbox => {
  const arrivals: Array<Arrival> = []
  const waiting = new Set<() => void>()
  let script = first
  let secrets: Secrets = []
  let quorum: Quorum = "all"
  return {
    url,
    arrivals,
    get secrets() {
      return secrets
    },
    get quorum() {
      return quorum
    },
    get script() {
      return script
    },
    trust: (trusted, by = "all") => {
      secrets = trusted
      quorum = by
    },
    answer: (next) => {
      script = next
    },
    look: () => waiting.forEach((look) => look()),
    until: (wanted) => {
      const isEnough = () => typeof wanted === "number" ? arrivals.length >= wanted : wanted(arrivals)
      const { promise, resolve } = Promise.withResolvers<ReadonlyArray<Arrival>>()
      const look = () => {
        if (!isEnough()) return
        waiting.delete(look)
        resolve([...arrivals])
      }
      waiting.add(look)
      look()
      return promise
    }
  }
}

const bytesOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value])
    )
  )

const respond = async ({ socket }: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> => {
  if (answer === "hang") return
  if (answer === "reset") return void socket.destroy()
  if (answer === "nonsense") return void socket.end("220 mail.example.com ready\r\n")
  if (answer === "endless") return flood(response)
  const { afterMillis = 0, body, headers, status } = answer
  if (afterMillis > 0) await Effect.runPromise(Effect.sleep(afterMillis))
  response.writeHead(status, headers).end(body)
}

/** Sends until the client closes the connection. */
const flood = async (response: ServerResponse): Promise<void> => {
  response.writeHead(200)
  const chunk = Buffer.alloc(16 * 1024, "x")
  const endless = function*() {
    while (true) yield chunk
  }
  await pipeline(endless, response).catch(() => {})
}
