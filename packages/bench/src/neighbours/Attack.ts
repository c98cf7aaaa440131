/** One account that burdens a server as much as its limits allow. */
import { setTimeout } from "node:timers/promises"
import { type Dispatcher, Pool } from "undici"

/** A server, and the account that attacks it. */
export interface Target {
  readonly origin: string
  /** URL of the database. Only attacks on the database use it. */
  readonly database: string
  /** Keys of the attacker. Attacks of one account use the first. */
  readonly keys: ReadonlyArray<string>
}

/** Counts an outcome of the attacker: the status of a response, or how the connection ended. */
export type Tally = (outcome: string) => void

/** An attack whose preparation is done. It continues until the signal aborts, then it cleans up. */
type PreparedAttack = (tally: Tally, signal: AbortSignal) => Promise<void>

/** An attack. Its preparation is not measured. */
export type Attack = (target: Target) => Promise<PreparedAttack>

/** Returns the headers of a request with a JSON body. */
export const jsonHeaders = (key: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json"
})

/**
 * Milliseconds that a caller waits after a refusal. An account that only repeats refused requests is a flood, which a
 * proxy limits.
 */
export const pauseMillis = 1000

/** Options of `repeat`. */
export interface RepeatOptions {
  readonly origin: string
  readonly callers: number
  readonly tally: Tally
  readonly signal: AbortSignal
  /** Returns the request of a number. */
  readonly requestOf: (n: number) => Dispatcher.RequestOptions
  /** Milliseconds between two requests of a caller. Default: none. */
  readonly intervalMillis?: number
  /** Receives the bodies of successful responses. */
  readonly onBody?: (body: string) => void
}

/** Sends requests in a closed loop until the signal aborts. The abort closes connections that wait for a response. */
export const repeat = async (
  { callers, intervalMillis = 0, onBody, origin, requestOf, signal, tally }: RepeatOptions
): Promise<void> => {
  const pool = new Pool(origin, { connections: callers, pipelining: 1 })
  let next = 0
  const caller = async () => {
    while (!signal.aborted) {
      const outcome = await send(pool, { ...requestOf(next++), signal }, onBody)
      if (signal.aborted) return
      tally(outcome)
      const pause = outcome.startsWith("2") ? intervalMillis : Math.max(intervalMillis, pauseMillis)
      if (pause > 0) await setTimeout(pause)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await pool.destroy()
}

/** Prepares an attack that only repeats requests. */
export const repeating = (options: Omit<RepeatOptions, "signal" | "tally">): PreparedAttack => (tally, signal) =>
  repeat({ ...options, signal, tally })

/** Sends a request that has to succeed, and returns its body. */
export const ask = async (origin: string, request: Dispatcher.RequestOptions): Promise<string> => {
  const pool = new Pool(origin)
  try {
    const { body, statusCode } = await pool.request(request)
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${request.method} ${request.path}: ${statusCode} ${text}`)
    return text
  } finally {
    await pool.destroy()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const send = async (
  pool: Pool,
  request: Dispatcher.RequestOptions,
  onBody?: (body: string) => void
): Promise<string> => {
  try {
    const { body, statusCode } = await pool.request(request)
    const text = await body.text()
    if (statusCode < 300) onBody?.(text)
    return String(statusCode)
  } catch (cause) {
    return cause instanceof Error && "code" in cause ? String(cause.code) : "failed"
  }
}
