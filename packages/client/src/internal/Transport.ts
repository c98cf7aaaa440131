/** Sends the requests of a client with its key, within its limits, and retries them. */
import { ConnectionError, type Occasion, TimeoutError } from "../KinoraError.ts"
import type { CallOptions, CreateOptions, Options } from "../Options.ts"
import type { Ambient } from "./Ambient.ts"
import * as Exchange from "./Exchange.ts"
import { isPending, waitBefore } from "./retry.ts"
import { errorOf, isFailure, parse } from "./wire.ts"

/** A request and how it can be sent. */
export interface Call extends CallOptions {
  readonly method: "GET" | "HEAD" | "POST" | "DELETE"
  /** A path below `/v1`, such as `/models`, or an absolute URL. */
  readonly target: string | URL
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  readonly body?: BodyInit | undefined
  /** Whether the request is idempotent. Default: all methods except POST. */
  readonly isRepeatable?: boolean | undefined
  /** Job of the call, for errors. */
  readonly generationId?: string | undefined
  /** Whether redirects are followed and 304 is a success. Default `false`. */
  readonly isFile?: boolean | undefined
}

/** A response whose body has not been read. */
export interface Opened {
  readonly response: Response
  /** Returns the next chunk of the body, or `undefined` at its end. */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Ends the connection. Idempotent. */
  readonly close: () => void
}

/**
 * Requests of a client. All reject with a `KinoraError`, with the reason of the caller's signal, or with `TypeError` if the
 * call contains a header that cannot be sent.
 */
export interface Transport {
  /** Returns the JSON of a successful response. */
  readonly json: <A>(call: Call) => Promise<A>
  /** Sends a request that creates a job, with one idempotency key for all attempts. */
  readonly create: <A>(target: string, request: object, options?: CreateOptions) => Promise<A>
  /** Waits for a successful response without a body. */
  readonly done: (call: Call) => Promise<void>
  /** Returns a successful response as soon as its headers arrive. The headers end the timeout of the call, but not that of silence. */
  readonly open: (call: Call) => Promise<Opened>
  /** Sleeps. Rejects at once if the sleep would exceed the deadline. */
  readonly pause: (millis: number, deadline: number, call: Pick<Call, "signal" | "generationId">) => Promise<void>
  readonly ambient: Ambient
  readonly limits: Limits
}

/** Limits of a client, with defaults filled in. */
interface Limits {
  readonly attemptsMax: number
  readonly attemptTimeoutMillis: number
  readonly timeoutMillis: number
  readonly waitTimeoutMillis: number
}

/** Creates a transport. Throws `TypeError` if an option is invalid; the message never contains the key. */
export const make = (options: Options, ambient: Ambient): Transport => {
  const limits = limitsOf(options)
  const requestOf = makeRequestOf(options)
  const send = makeSend(ambient, limits, requestOf)
  const json = <A>(call: Call): Promise<A> =>
    send(call, async (arrival) => parse<A>(arrival.response, await text(arrival), arrival.occasion))

  return {
    ambient,
    limits,
    json,
    create: (target, request, { idempotencyKey, ...options } = {}) =>
      json({
        ...options,
        method: "POST",
        target,
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey ?? ambient.newKey() },
        body: JSON.stringify(request),
        isRepeatable: true
      }),
    done: async (call) => {
      await send(call, text)
    },
    open: (call) => send(call, async (arrival) => opened(arrival, limits.attemptTimeoutMillis, call.signal)),
    pause: async (millis, deadline, call) => {
      if (ambient.now() + millis >= deadline) throw timedOut(call, 0, undefined)
      await sleep(ambient, millis, call.signal)
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** URL and headers of a call, the same for each attempt. */
interface PreparedRequest {
  readonly url: string
  readonly init: RequestInit
}

/** Prepares requests. Throws `TypeError` if a header cannot be sent, because no retry would help. */
const makeRequestOf = (options: Options) => {
  const base = baseOf(options.baseUrl)
  // Kept in a closure, so that a printed client does not contain it.
  const authorization = authorizationOf(options.apiKey)

  const addressOf = ({ query = {}, target }: Call): URL => {
    const url = new URL(typeof target === "string" ? `${base.href}v1${target}` : target)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }

  const headersOf = (call: Call, url: URL): Headers => {
    const headers = new Headers()
    // The key is sent to its own service only. URLs of other origins are signed.
    if (authorization !== undefined && url.href.startsWith(base.href)) headers.set("authorization", authorization)
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value !== undefined) headers.set(name, value)
    }
    return headers
  }

  return (call: Call): PreparedRequest => {
    const url = addressOf(call)
    const init = {
      method: call.method,
      headers: headersOf(call, url),
      // A redirected POST would become a GET of something else.
      redirect: call.isFile === true ? "follow" : "manual",
      ...(call.body === undefined ? {} : { body: call.body })
    } as const
    return { url: url.href, init }
  }
}

/** Sends a request until it succeeds or a retry cannot help, and reads the response. */
const makeSend = (ambient: Ambient, limits: Limits, requestOf: (call: Call) => PreparedRequest) => {
  const attempt = makeAttempt(ambient, limits)

  return async <A>(call: Call, read: Read<A>): Promise<A> => {
    const deadline = ambient.now() + (call.timeoutMillis ?? limits.timeoutMillis)
    const isRepeatable = call.isRepeatable ?? call.method !== "POST"
    const request = requestOf(call)
    let failures = 0
    let cause: unknown
    for (let attempts = 1;; attempts++) {
      call.signal?.throwIfAborted()
      if (isOver(ambient, deadline)) throw timedOut(call, attempts - 1, cause)
      try {
        return await attempt({ ...request, call, deadline, attempts, read })
      } catch (error) {
        if (!isFailure(error)) throw error
        if (!isPending(error)) failures++
        const { attemptsMax } = limits
        const wait = waitBefore({ error, failures, attemptsMax, isRepeatable, random: ambient.random() })
        if (wait === undefined || ambient.now() + wait >= deadline) throw error
        cause = error
        await sleep(ambient, wait, call.signal)
      }
    }
  }
}

/** Runs one attempt, up to the result of `read`. The exchange stays open for callers that read on. */
const makeAttempt =
  (ambient: Ambient, limits: Limits) =>
  async <A>({ attempts, call, deadline, init, read, url }: Attempt<A>): Promise<A> => {
    const occasion = { generationId: call.generationId ?? null, attempts }
    const exchange = Exchange.make(ambient, call.signal)
    try {
      const limit = () => Math.min(limits.attemptTimeoutMillis, deadline - ambient.now())
      const response = await exchange.step(ambient.fetch(url, { ...init, signal: exchange.signal }), limit())
      if (!response.ok && !(call.isFile === true && response.status === 304)) {
        throw errorOf(response, await exchange.step(response.text(), limit()), occasion)
      }
      return await read({ response, exchange, limit, occasion })
    } catch (cause) {
      exchange.close()
      if (call.signal?.aborted === true) throw call.signal.reason
      if (isFailure(cause)) throw cause
      if (isOver(ambient, deadline)) throw timedOut(call, attempts, cause)
      throw new ConnectionError("No response arrived, or it broke off.", occasion, cause)
    }
  }

/** Timers are accurate to a millisecond. */
const isOver = (ambient: Ambient, deadline: number) => deadline - ambient.now() < 1

const text: Read<string> = async ({ exchange, limit, response }) => {
  const body = await exchange.step(response.text(), limit())
  exchange.close()
  return body
}

/** A successful response whose headers have arrived. */
interface Arrival {
  readonly response: Response
  readonly exchange: Exchange.Exchange
  /** Milliseconds of silence that the next step can have. */
  readonly limit: () => number
  readonly occasion: Occasion
}

type Read<A> = (arrival: Arrival) => Promise<A>

interface Attempt<A> extends PreparedRequest {
  readonly call: Call
  readonly deadline: number
  /** Number of this attempt, from 1. */
  readonly attempts: number
  readonly read: Read<A>
}

const timedOut = ({ generationId }: Pick<Call, "generationId">, attempts: number, cause: unknown) =>
  new TimeoutError("The call exceeded its timeout.", { generationId: generationId ?? null, attempts }, cause)

const opened = (
  { exchange, occasion, response }: Arrival,
  silenceMillis: number,
  signal: AbortSignal | undefined
): Opened => {
  const reader = response.body?.getReader()
  const next = async (): Promise<Uint8Array | undefined> => {
    if (reader === undefined) return undefined
    try {
      const { value } = await exchange.step(reader.read(), silenceMillis)
      return value
    } catch (cause) {
      exchange.close()
      if (signal?.aborted === true) throw signal.reason
      throw new ConnectionError("The response broke off.", occasion, cause)
    }
  }
  return { response, next, close: exchange.close }
}

const sleep = (ambient: Ambient, millis: number, signal: AbortSignal | undefined): Promise<void> => {
  let cancel = () => {}
  const slept = new Promise<void>((wake) => {
    cancel = ambient.after(millis, wake)
  })
  return Exchange.untilAborted(slept, signal).finally(cancel)
}

const limitsOf = (options: Options): Limits => ({
  attemptsMax: positive("attemptsMax", options.attemptsMax ?? 5),
  attemptTimeoutMillis: positive("attemptTimeoutMillis", options.attemptTimeoutMillis ?? 90_000),
  timeoutMillis: positive("timeoutMillis", options.timeoutMillis ?? 120_000),
  waitTimeoutMillis: positive("waitTimeoutMillis", options.waitTimeoutMillis ?? 1_800_000)
})

const positive = (name: string, value: number): number => {
  if (!(value > 0)) throw new TypeError(`${name} must be above 0`)
  return value
}

/** Base URL with a slash at its end. `/v1` at the end is accepted, because other clients require it. */
const baseOf = (text: string): URL => {
  if (!URL.canParse(text)) throw new TypeError("baseUrl must be an absolute URL, such as https://kinora.example")
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must begin with https:// or http://")
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/`)
}

/** Checks the key, because `fetch` would quote it in the error of an invalid header. */
const authorizationOf = (apiKey: string | null): string | undefined => {
  if (apiKey === null) return undefined
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError("apiKey must be an API key of the account, or null to send none")
  }
  return `Bearer ${apiKey}`
}
