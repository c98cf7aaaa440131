/** Sends the requests of a client: with its key, within its limits, again where that helps. */
import { ConnectionError, type Occasion, TimeoutError } from "../KinoraError.ts"
import type { CallOptions, Options } from "../Options.ts"
import type { Ambient } from "./Ambient.ts"
import * as Exchange from "./Exchange.ts"
import { isPending, waitBefore } from "./retry.ts"
import { errorOf, isFailure, parse } from "./wire.ts"

/** A request, and how it may be sent. */
export interface Call extends CallOptions {
  readonly method: "GET" | "HEAD" | "POST" | "DELETE"
  /** A path below `/v1`, such as `/models`; or a whole address. */
  readonly target: string | URL
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  readonly body?: BodyInit | undefined
  /** Whether sending it twice does what sending it once does. Default: all but POST. */
  readonly isRepeatable?: boolean | undefined
  /** The job that it is about, for errors. */
  readonly generationId?: string | undefined
  /** 304 is an answer, and so is a redirect that the platform followed. Default false. */
  readonly isFile?: boolean | undefined
}

/** An answer whose body is still to come. */
export interface Opened {
  readonly response: Response
  /** The next piece of the body; `undefined` at its end. */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Ends the connection. Again does nothing. */
  readonly close: () => void
}

/**
 * See each member. All reject with errors of `KinoraError`, with the reason of the caller's signal, or with `TypeError`
 * when the call holds what cannot be sent.
 */
export interface Transport {
  /** The JSON of a good answer, which the contract types. */
  readonly json: <A>(call: Call) => Promise<A>
  /** Waits for a good answer that has no body. */
  readonly done: (call: Call) => Promise<void>
  /** A good answer as soon as its headers are there. The time of the call ends then; silence still counts. */
  readonly open: (call: Call) => Promise<Opened>
  /** Waits; rejects at once where that would pass the deadline. */
  readonly pause: (millis: number, deadline: number, call: Pick<Call, "signal" | "generationId">) => Promise<void>
  readonly ambient: Ambient
  readonly limits: Limits
}

/** The limits of a client's options, defaults filled in. */
interface Limits {
  readonly attemptsMax: number
  readonly attemptTimeoutMillis: number
  readonly timeoutMillis: number
  readonly waitTimeoutMillis: number
}

/** A transport for a service. Throws `TypeError` when the options cannot be used; it never says the key. */
export const make = (options: Options, ambient: Ambient): Transport => {
  const limits = limitsOf(options)
  const base = baseOf(options.baseUrl)
  // In a closure, so that nothing that prints a client can reach it.
  const authorization = authorizationOf(options.apiKey)

  /** Timers are exact to a millisecond. */
  const isOver = (deadline: number) => deadline - ambient.now() < 1

  const addressOf = ({ query = {}, target }: Call): URL => {
    const url = new URL(typeof target === "string" ? `${base.href}v1${target}` : target)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }

  const headersOf = (call: Call, url: URL): Headers => {
    const headers = new Headers()
    // A key is for its own service: an address elsewhere carries its own right.
    if (authorization !== undefined && url.href.startsWith(base.href)) headers.set("authorization", authorization)
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value !== undefined) headers.set(name, value)
    }
    return headers
  }

  /** What each attempt sends. Throws `TypeError` when a header cannot be sent: no attempt would mend that. */
  const requestOf = (call: Call): { readonly url: string; readonly init: RequestInit } => {
    const url = addressOf(call)
    const init = {
      method: call.method,
      headers: headersOf(call, url),
      // A redirected POST would become a GET, and answer something else.
      redirect: call.isFile === true ? "follow" : "manual",
      ...(call.body === undefined ? {} : { body: call.body })
    } as const
    return { url: url.href, init }
  }

  /** One attempt, up to what `read` makes of a good answer. The exchange is left open for those who read on. */
  const attempt = async <A>({ attempts, call, deadline, init, read, url }: Attempt<A>): Promise<A> => {
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
      if (isOver(deadline)) throw timedOut(call, attempts, cause)
      throw new ConnectionError("No answer came, or it broke off.", occasion, cause)
    }
  }

  const send = async <A>(call: Call, read: Read<A>): Promise<A> => {
    const deadline = ambient.now() + (call.timeoutMillis ?? limits.timeoutMillis)
    const isRepeatable = call.isRepeatable ?? call.method !== "POST"
    const request = requestOf(call)
    let failures = 0
    let cause: unknown
    for (let attempts = 1;; attempts++) {
      call.signal?.throwIfAborted()
      if (isOver(deadline)) throw timedOut(call, attempts - 1, cause)
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

  const text: Read<string> = async ({ exchange, limit, response }) => {
    const body = await exchange.step(response.text(), limit())
    exchange.close()
    return body
  }

  return {
    ambient,
    limits,
    json: (call) => send(call, async (arrival) => parse(arrival.response, await text(arrival), arrival.occasion)),
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

/** The headers of a good answer are there. */
interface Arrival {
  readonly response: Response
  readonly exchange: Exchange.Exchange
  /** The milliseconds for which the next step may be silent. */
  readonly limit: () => number
  readonly occasion: Occasion
}

type Read<A> = (arrival: Arrival) => Promise<A>

interface Attempt<A> {
  readonly url: string
  readonly init: RequestInit
  readonly call: Call
  readonly deadline: number
  /** Which one it is, from 1. */
  readonly attempts: number
  readonly read: Read<A>
}

const timedOut = ({ generationId }: Pick<Call, "generationId">, attempts: number, cause: unknown) =>
  new TimeoutError("The time of the call is used up.", { generationId: generationId ?? null, attempts }, cause)

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
      throw new ConnectionError("The answer broke off.", occasion, cause)
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

/** Ends with a slash. `/v1` at the end is what other clients want to be told, so it may be there. */
const baseOf = (text: string): URL => {
  if (!URL.canParse(text)) throw new TypeError("baseUrl must be an absolute URL, such as https://kinora.example")
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must begin with https:// or http://")
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/`)
}

/** Checked here, because `fetch` would quote a header that it refuses. */
const authorizationOf = (apiKey: string | null): string | undefined => {
  if (apiKey === null) return undefined
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError("apiKey must be an API key of the account, or null to send none")
  }
  return `Bearer ${apiKey}`
}
