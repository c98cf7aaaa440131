/** Virtual connections that share the one session of PGlite. */
import type { PGlite } from "@electric-sql/pglite"
import { Duplex } from "node:stream"

/** Runs the frames of all connections one after the other. An open transaction excludes other connections. */
export class PgliteSession {
  readonly #database: PGlite
  readonly #connections = new Set<VirtualConnection>()
  readonly #queue: Array<{ readonly connection: VirtualConnection; readonly frame: Buffer }> = []
  /** The connection whose transaction is open. Frames of others wait until it ends. */
  #owner: VirtualConnection | undefined
  #isPumping = false

  constructor(database: PGlite) {
    this.#database = database
  }

  readonly connect = (): Duplex => {
    const connection = new VirtualConnection({
      submit: (frame) => this.#submit(connection, frame),
      release: () => this.#release(connection)
    })
    this.#connections.add(connection)
    return connection
  }

  #submit(connection: VirtualConnection, frame: Buffer): void {
    this.#queue.push({ connection, frame })
    this.#pump()
  }

  #release(connection: VirtualConnection): void {
    this.#connections.delete(connection)
    const kept = this.#queue.filter((entry) => entry.connection !== connection)
    this.#queue.splice(0, this.#queue.length, ...kept)
    this.#pump()
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    void this.#drain().finally(() => {
      this.#isPumping = false
    })
  }

  async #drain(): Promise<void> {
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      const { connection, frame } = next
      try {
        const answer = Buffer.from(await this.#database.execProtocolRaw(frame))
        const status = this.#deliver(answer, connection)
        this.#owner = status === undefined || status === statusIdle ? undefined : connection
      } catch (error) {
        this.#owner = undefined
        connection.destroy(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  #takeNext() {
    if (this.#owner !== undefined && !this.#connections.has(this.#owner)) {
      // The connection closed inside a transaction, perhaps while its first frame ran, so its session has to end it.
      return { connection: this.#owner, frame: message("Q", Buffer.from("ROLLBACK\0")) }
    }
    const index = this.#owner === undefined ? 0 : this.#queue.findIndex((entry) => entry.connection === this.#owner)
    return index < 0 ? undefined : this.#queue.splice(index, 1)[0]
  }

  /** Delivers a response and returns the transaction status in it. Notifications go to all connections, which filter by channel. */
  #deliver(answer: Buffer, connection: VirtualConnection): number | undefined {
    let position = 0
    let start = 0
    let status: number | undefined
    while (position + 5 <= answer.length) {
      const end = position + 1 + answer.readInt32BE(position + 1)
      const type = answer[position]
      if (type === readyForQuery) status = answer[position + 5]
      if (type === notification) {
        if (position > start) connection.receive(answer.subarray(start, position))
        for (const other of this.#connections) other.receive(answer.subarray(position, end))
        start = end
      }
      position = end
    }
    if (answer.length > start) connection.receive(answer.subarray(start))
    return status
  }
}

interface SessionHandle {
  readonly submit: (frame: Buffer) => void
  readonly release: () => void
}

class VirtualConnection extends Duplex {
  readonly #session: SessionHandle
  #isStarted = false
  #pending: Buffer = Buffer.alloc(0)

  constructor(session: SessionHandle) {
    super()
    this.#session = session
  }

  receive(bytes: Buffer): void {
    if (!this.destroyed) this.push(bytes)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    done()
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const rest = this.#isStarted ? bytes : this.#start(bytes)
    if (rest !== undefined) this.#forward(rest)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#session.release()
    done(error)
  }

  /** Responds to the start-up message and returns the bytes after it, or `undefined` if it is incomplete or a cancellation. */
  #start(bytes: Buffer): Buffer | undefined {
    if (bytes.length < 8 || bytes.length < bytes.readInt32BE(0)) {
      this.#pending = bytes
      return undefined
    }
    if (bytes.readInt32BE(4) === cancelRequest) {
      this.destroy()
      return undefined
    }
    this.#isStarted = true
    this.push(greeting)
    return bytes.subarray(bytes.readInt32BE(0))
  }

  /** Submits complete cycles, which end with Sync or Query, so that frames of two connections never mix. */
  #forward(bytes: Buffer): void {
    let position = 0
    let start = 0
    while (position + 5 <= bytes.length) {
      const end = position + 1 + bytes.readInt32BE(position + 1)
      if (end > bytes.length) break
      const type = bytes[position]
      if (type === terminate) {
        this.push(null)
        this.destroy()
        return
      }
      if (type === sync || type === query) {
        this.#session.submit(bytes.subarray(start, end))
        start = end
      }
      position = end
    }
    this.#pending = Buffer.from(bytes.subarray(start))
  }
}

const cancelRequest = 80877102

const codeOf = (letter: string): number => letter.charCodeAt(0)

const statusIdle = codeOf("I")
const readyForQuery = codeOf("Z")
const notification = codeOf("A")
const terminate = codeOf("X")
const sync = codeOf("S")
const query = codeOf("Q")

const message = (type: string, payload: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(5 + payload.length)
  bytes.write(type, 0, "latin1")
  bytes.writeInt32BE(4 + payload.length, 1)
  bytes.set(payload, 5)
  return bytes
}

/** AuthenticationOk, two parameters, a cancellation key (cancelling is not supported), ReadyForQuery. */
const greeting = Buffer.concat([
  message("R", Buffer.from([0, 0, 0, 0])),
  message("S", Buffer.from("server_version\u000018\0")),
  message("S", Buffer.from("client_encoding\0UTF8\0")),
  message("K", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])),
  message("Z", Buffer.from("I"))
])
