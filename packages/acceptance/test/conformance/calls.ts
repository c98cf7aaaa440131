/** The requests that tests send, and what they read of the answers. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"

/** The job object. */
export interface Job {
  readonly id: string
  readonly model: string
  readonly kind: string
  readonly mode: string
  readonly plan: string
  readonly status: string
  readonly prompt: string | null
  readonly params: Readonly<Record<string, unknown>>
  readonly cost_credits: number | null
  readonly quota_kind: string | null
  readonly watermark: boolean
  readonly refunded: boolean
  readonly error_code: string | null
  readonly error: { readonly code: string; readonly message: string; readonly reason: string | null } | null
  readonly output: {
    readonly url: string
    readonly mime: string
    readonly bytes: number
    readonly expires_at: string
  } | null
  readonly preview_url: string | null
  readonly thumb_url: string | null
  readonly poster_url: string | null
  readonly result_expires_at: string | null
  readonly queued_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly created_at: string
  readonly next?: { readonly action: string; readonly after_seconds: number }
}

/** What a test wants to have made. */
export interface Wish {
  /** Default `picture`. */
  readonly model?: string
  /** Default `credits`. */
  readonly plan?: string
  /** Besides the prompt, which is `a lake` unless they say otherwise. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Of the request, such as `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A body of any form, sent with the account's key. */
export const post = (
  account: Pick<Account, "fetch">,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
): Promise<Response> =>
  account.fetch(path, {
    method: "POST",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
  })

/** POST /v1/generations. */
export const create = (account: Pick<Account, "fetch">, wish: Wish = {}): Promise<Response> =>
  post(account, "/v1/generations", bodyOf(wish), wish.headers)

/** The body of POST /v1/generations. */
export const bodyOf = ({ model = "picture", params, plan = "credits" }: Wish = {}) => ({
  plan,
  model,
  params: { prompt: "a lake", ...params }
})

/** POST /v1/images/generations. */
export const image = (
  account: Pick<Account, "fetch">,
  body: Readonly<Record<string, unknown>> = {},
  headers?: Readonly<Record<string, string>>
): Promise<Response> =>
  post(account, "/v1/images/generations", { model: "credits-only", prompt: "a lake", ...body }, headers)

/** A new job. */
export const createJob = async (account: Account, wish?: Wish): Promise<Job> => {
  const response = await create(account, wish)
  const job = await jsonOf<Job>(response)
  expect([response.status, job], "a new job").toEqual([201, expect.objectContaining({ id: expect.any(String) })])
  return job
}

/** The job as it is. */
export const read = async (account: Account, id: string, query = ""): Promise<Job> =>
  jsonOf<Job>(await account.fetch(`/v1/generations/${id}${query}`))

/** The job once it has ended. */
export const awaitEnd = async (account: Account, id: string): Promise<Job> => {
  let job = await read(account, id, "?wait=60")
  while (!["completed", "failed", "cancelled"].includes(job.status)) job = await read(account, id, "?wait=60")
  return job
}

/** A job that is over. */
export const ended = async (account: Account, wish?: Wish): Promise<Job> =>
  awaitEnd(account, (await createJob(account, wish)).id)

/** A job with its result. */
export const completed = async (account: Account, wish?: Wish) => {
  const { output, ...job } = await ended(account, wish)
  if (output === null) throw new Error(`${job.id} is ${job.status} and has no result`)
  return { ...job, output }
}

/** A job that a worker has begun, and that does not end by itself. */
export const processing = async (account: Account, wish?: Wish): Promise<Job> => {
  const { id } = await createJob(account, { model: "slow", ...wish })
  return awaitStatus(account, id, "processing")
}

/** The job once it has this status, which its events tell. */
export const awaitStatus = async (account: Account, id: string, status: string): Promise<Job> => {
  const { body } = await account.fetch(`/v1/generations/${id}/events`)
  let told = ""
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += text
    if (told.includes(`"status":"${status}"`)) return read(account, id)
  }
  throw new Error(`${id} does not become ${status}`)
}

/** Cancels the job. */
export const cancel = (account: Account, id: string): Promise<Response> => post(account, `/v1/generations/${id}/cancel`)

/** The body of an answer as JSON. */
export const jsonOf = async <Body = Readonly<Record<string, unknown>>>(response: Response): Promise<Body> =>
  await response.json() as Body

/** An error, as it travels. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly plan: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** The error of an answer, which must have this status, this code and exactly the envelope (D42). */
export const refusalOf = async (response: Response, status: number, code: string): Promise<Refusal> => {
  const body = await jsonOf<{ readonly error: Refusal }>(response)
  expect([response.status, body], response.url).toEqual([status, {
    error: {
      code,
      message: expect.stringMatching(/./),
      plan: expect.toSatisfy((plan) => plan === null || plan === "studio" || plan === "credits"),
      details: expect.any(Object)
    }
  }])
  expect(response.headers.get("content-type")).toMatch(/^application\/json\b/)
  expect(Array.isArray(body.error.details)).toBe(false)
  return body.error
}

/** What waits must say: whole seconds and exact milliseconds (D27). */
export const retryOf = (response: Response): { readonly seconds: number; readonly millis: number } => {
  const seconds = response.headers.get("retry-after") ?? ""
  const millis = response.headers.get("retry-after-ms") ?? ""
  expect([seconds, millis]).toEqual([expect.stringMatching(/^[1-9]\d*$/), expect.stringMatching(/^\d+$/)])
  return { seconds: Number(seconds), millis: Number(millis) }
}

/** The three headers of the limit. */
export const limitOf = (response: Response) => ({
  limit: Number(response.headers.get("x-ratelimit-limit") ?? Number.NaN),
  remaining: Number(response.headers.get("x-ratelimit-remaining") ?? Number.NaN),
  reset: Number(response.headers.get("x-ratelimit-reset") ?? Number.NaN)
})

/** What the account has left to spend. */
export const creditsOf = async (account: Account): Promise<number> => {
  const { plans } = await jsonOf<{ readonly plans: { readonly credits: { readonly credits_remaining: number } } }>(
    await account.fetch("/v1/account")
  )
  return plans.credits.credits_remaining
}

/** `count` numbers from 0. */
export const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

/** Runs the steps once more when a minute ended meanwhile, since then counts began anew. */
export const inOneMinute = async (stage: Stage, steps: (attempt: number) => Promise<void>): Promise<void> => {
  const minute = () => Math.floor(stage.now().getTime() / 60_000)
  for (let attempt = 1;; attempt++) {
    const began = minute()
    try {
      return await steps(attempt)
    } catch (error) {
      if (minute() === began || attempt === 3) throw error
    }
  }
}
