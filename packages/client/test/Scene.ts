/** A client with a scripted service, in virtual time that jumps to the next timer whenever nothing else runs. */
import type { Ambient } from "../src/internal/Ambient.ts"
import * as Client from "../src/internal/Client.ts"
import type { Fetch, Options } from "../src/Options.ts"
import type { Generation, Plan } from "../src/Wire.ts"

/** A request. */
interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: RequestInit["body"]
  readonly signal: AbortSignal
  /** Time of the request. */
  readonly at: number
}

/** A response, a function that creates one, or a network error. */
export type Answer = Response | Error | ((asked: Asked) => Response | Promise<Response>)

/** Creates a client whose service responds in this order, and records the requests. */
export const scene = (answers: ReadonlyArray<Answer>, options: Partial<Options> = {}) => {
  const time = new VirtualTime()
  const asked: Array<Asked> = []
  const fetch: Fetch = async (url, { body, headers, method = "", signal }) => {
    const request = { method, url, body, headers: new Headers(headers), signal: signal!, at: time.now() }
    const answer = answers[asked.length]
    asked.push(request)
    if (answer === undefined) throw new Error(`Nothing answers ${method} ${url}`)
    if (answer instanceof Error) throw answer
    return typeof answer === "function" ? answer(request) : answer
  }
  const ambient: Ambient = {
    fetch,
    now: () => time.now(),
    after: (millis, wake) => time.after(millis, wake),
    random: () => 0.5,
    newKey: () => `key ${asked.length}`
  }
  return {
    time,
    asked,
    kinora: Client.make({ baseUrl: "https://api.test", apiKey: "kin_secret", ...options }, ambient).calls
  }
}

interface Timer {
  readonly at: number
  readonly wake: () => void
}

/** Virtual time; see the module. */
class VirtualTime {
  #now = 0
  #changes = 0
  #isTurning = false
  readonly #timers = new Set<Timer>()

  now() {
    return this.#now
  }

  after(millis: number, wake: () => void) {
    const timer = { at: this.#now + millis, wake }
    this.#timers.add(timer)
    this.#changes++
    if (!this.#isTurning) void this.#turn()
    return () => {
      this.#changes++
      this.#timers.delete(timer)
    }
  }

  /** Promises run between turns, so several turns without a change mean that nothing runs. */
  async #turn() {
    this.#isTurning = true
    while (this.#timers.size > 0) {
      const before = this.#changes
      for (let turn = 0; turn < 5; turn++) await new Promise((resume) => setImmediate(resume))
      if (this.#changes !== before) continue
      const [first] = [...this.#timers].toSorted((one, other) => one.at - other.at)
      if (first === undefined) break
      this.#timers.delete(first)
      this.#now = first.at
      first.wake()
    }
    this.#isTurning = false
  }
}

/** An error response. */
export const refusal = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  details: object = {},
  plan: Plan | null = null
): Response => Response.json({ error: { code, message: "No.", plan, details } }, { status, headers })

/** A job. */
export const job = (changes: Partial<Generation> = {}): Generation => ({
  id: "gen_1",
  model: "kinora-still",
  kind: "image",
  mode: "text_to_image",
  plan: "credits",
  status: "completed",
  prompt: "a lake",
  params: {},
  cost_credits: 8,
  quota_kind: null,
  watermark: false,
  refunded: false,
  error_code: null,
  error: null,
  output: null,
  preview_url: null,
  thumb_url: null,
  poster_url: null,
  result_expires_at: null,
  queued_at: "2026-11-21T12:00:00.000Z",
  started_at: null,
  finished_at: null,
  created_at: "2026-11-21T12:00:00.000Z",
  ...changes
})

/** A job that is not final. */
export const unfinished = (status: "pending" | "queued" | "processing" = "processing"): Generation =>
  job({ status, next: { action: "poll", after_seconds: 5 } })

/** A request to create a job. */
export const request = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const

/** Collects all items. */
export const collect = async <A>(iterable: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const one of iterable) all.push(one)
  return all
}

/** The error with which the promise rejects. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => {
    throw new Error(`The response was ${JSON.stringify(value)}`)
  }, (error: unknown) => error)
