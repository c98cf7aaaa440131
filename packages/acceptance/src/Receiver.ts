/**
 * Takes webhooks as a customer's server does: over HTTPS, with a certificate of the
 * test's own authority. Whatever arrives is kept byte by byte and verified on the
 * spot by Stripe's SDK and by our own package, with every secret that must hold; what
 * either refuses fails the test when the receiver closes.
 */
import type * as Certificates from "@kinora/testkit/Certificates"
import { Clock, Effect } from "effect"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import * as Verification from "./Verification.ts"

/** What a receiver is made with. */
export interface ReceiverOptions {
  readonly certificate: Certificates.Certificate
  /** Default: a free one. */
  readonly port?: number | undefined
  /** The time at which stamps are looked at. Default: this machine's. */
  readonly now?: (() => Date) | undefined
}

/** A webhook that arrived. */
export interface Arrival {
  /** When all of it was there, Unix milliseconds of this machine. */
  readonly at: number
  readonly method: string
  /** As they were written. */
  readonly headerNames: ReadonlyArray<string>
  readonly headers: Headers
  /** The raw bytes. */
  readonly body: Uint8Array
  /** When the exchange was over, Unix milliseconds of this machine: answered, or given up by either side. */
  readonly ended: Promise<number>
}

/** How a webhook is answered: as told, never, by closing the connection, or by something that is no HTTP. */
export type Answer =
  | {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
    /** After so long on this machine. Default: at once. */
    readonly afterMillis?: number
  }
  | "hang"
  | "reset"
  | "nonsense"
  /** 200, and a body that goes on as long as somebody reads. */
  | "endless"

/** Decides on a webhook; `n` counts those of the inbox from 0. */
export type Script = (arrival: Arrival, n: number) => Answer

/** What webhooks are verified with. Those that arrive before it is known wait for it. */
export type Secrets = ReadonlyArray<string> | Promise<ReadonlyArray<string>>

/** How many of the secrets must hold. */
export type Quorum = Verification.Quorum

/** One address of the receiver. */
export interface Inbox {
  readonly url: string
  /** What arrived, oldest first. */
  readonly arrivals: ReadonlyArray<Arrival>
  /** Says with which secrets what arrives from now on must verify: with each of them, or with any. */
  readonly trust: (secrets: Secrets, by?: Quorum) => void
  /** Answers otherwise from now on. */
  readonly answer: (script: Script) => void
  /** What arrived, once it is enough: so many webhooks, or as the test wants it. */
  readonly until: (
    isEnough: number | ((arrivals: ReadonlyArray<Arrival>) => boolean)
  ) => Promise<ReadonlyArray<Arrival>>
}

/** A running receiver. Closing it closes all connections, and throws when a webhook did not verify. */
export interface Receiver extends AsyncDisposable {
  readonly port: number
  /** A new address, which answers 200 unless it is told otherwise. */
  readonly inbox: (script?: Script) => Inbox
  /** How many connections were made, also those over which nothing came. */
  readonly connections: () => number
  /** What did not verify, in sentences. */
  readonly problems: () => ReadonlyArray<string>
  /** Closes without a word about what did not verify. */
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
  // Counted before TLS, which a guarded sender never begins.
  server.on("connection", () => connections++)
  server.on("tlsClientError", () => {})

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const ended = once(response, "close").then(liveMillis)
    const inbox = inboxes.get(request.url ?? "")
    const body = await bytesOf(request).catch(() => undefined)
    // Whoever gave up in the middle has sent nothing.
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

/** The JSON of an arrival, as a receiver reads it after it verified. */
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
  /** Answers those who wait for enough. */
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

const flood = async (response: ServerResponse): Promise<void> => {
  response.writeHead(200)
  const chunk = Buffer.alloc(16 * 1024, "x")
  while (!response.destroyed) {
    if (!response.write(chunk)) await Promise.race([once(response, "drain"), once(response, "close")])
  }
}
