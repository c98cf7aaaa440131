/**
 * Callers that download over one connection each, and drop what they receive. They read into memory of their own and do not
 * collect garbage, since servers would wait for a slower caller.
 */
import type { Effect } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { attempt, type BenchmarkFailure } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"

/** A request for a file, or for a part of it. */
export interface Download {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** The requests of a round, and their callers. */
export interface DownloadsOptions {
  readonly origin: string
  readonly connections: number
  readonly seconds: number
  /** The expected status. Any other fails the round. */
  readonly status: number
  /** The expected length of each body. Any other fails the round. */
  readonly bytes: number
  /** Sent in order, over and over. */
  readonly downloads: ReadonlyArray<Download>
}

/** Downloads until the round ends. */
export const download = (options: DownloadsOptions): Effect.Effect<Callers.Calls, BenchmarkFailure> =>
  attempt(`The server at ${options.origin} did not do the work`, async () => {
    const { connections, downloads, seconds } = options
    const all = await Promise.all(Array.from({ length: connections }, () => open(options)))
    const free = [...all]
    try {
      return await Callers.ofPromises({ callers: connections, seconds }, async (n) => {
        const connection = free.pop()!
        await connection.get(downloads[n % downloads.length]!)
        free.push(connection)
      })
    } finally {
      for (const { close } of all) close()
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Connection {
  /** Sends a request, and returns when its body has arrived. */
  readonly get: (download: Download) => Promise<void>
  readonly close: () => void
}

/** Size of the memory of a connection. */
const memoryBytes = 256 * 1024

/** The response that a connection receives. */
interface Receiving {
  /** The head so far, until it is complete. */
  head: string | undefined
  /** Bytes of the body that have not arrived. */
  left: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

const open = async ({ bytes, origin, status }: DownloadsOptions): Promise<Connection> => {
  const { host, hostname, port } = new URL(origin)
  let receiving: Receiving | undefined
  const fail = (problem: string) => {
    receiving?.reject(new Error(problem))
    receiving = undefined
    socket.destroy()
  }
  const receive = (length: number, memory: Uint8Array) => {
    if (receiving === undefined) return fail("it sent more than a response")
    let body = length
    if (receiving.head !== undefined) {
      const text = receiving.head + Buffer.from(memory.subarray(0, length)).toString("latin1")
      const end = text.indexOf(headEnd)
      if (end < 0) {
        receiving.head = text
        return
      }
      const problem = problemOf(text.slice(0, end), status, bytes)
      if (problem !== undefined) return fail(problem)
      receiving.head = undefined
      body = text.length - end - headEnd.length
    }
    receiving.left -= body
    if (receiving.left < 0) return fail(`it sent ${bytes - receiving.left} bytes instead of ${bytes}`)
    if (receiving.left > 0) return
    receiving.resolve()
    receiving = undefined
  }
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer: new Uint8Array(memoryBytes),
      callback: (length, memory) => {
        receive(length, memory)
        return true
      }
    }
  })
  await once(socket, "connect")
  socket.on("error", ({ message }) => fail(message))
  socket.on("close", () => fail("it closed the connection"))
  return {
    get: ({ headers, path }) =>
      new Promise((resolve, reject) => {
        receiving = { head: "", left: bytes, resolve, reject }
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join("")}\r\n`)
      }),
    close: () => {
      socket.destroy()
    }
  }
}

const headEnd = "\r\n\r\n"

/** Returns what is wrong with a head, if anything is. */
const problemOf = (head: string, status: number, bytes: number): string | undefined => {
  const [, answered = "nothing"] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? []
  if (answered !== String(status)) return `the response was ${answered}`
  const [, length = "none"] = /^content-length: *(\d+)/im.exec(head) ?? []
  return length === String(bytes) ? undefined : `its content-length is ${length} instead of ${bytes}`
}
