/** The typed client of the cases: requests that many of them send, and readers of the responses. */
import { expect } from "@effect/vitest"
import * as Client from "../../src/Client.ts"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import type { RawClient } from "../../src/RawHttp.ts"

/** The job object. */
export type Job = Client.Job

/** A job to create. */
export interface Wish {
  /** Default `picture`. */
  readonly model?: string
  /** Default `credits`. */
  readonly plan?: string
  /** Merged with the prompt `a lake`. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Headers such as `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Begins a span of time. The returned function asserts that a time, in milliseconds, is between its beginning and now. Some
 * times have no fraction of a second.
 */
export const startSpan = (stage: Pick<Stage, "now">): (millis: number) => void => {
  const began = stage.now().getTime()
  return (millis) => {
    expect(millis).toBeGreaterThan(began - 1_000)
    expect(millis).toBeLessThan(stage.now().getTime() + 1_000)
  }
}

/** Sends POST /v1/generations. */
export const create = (account: RawClient, wish: Wish = {}): Promise<Response> =>
  account.post("/v1/generations", bodyOf(wish), wish.headers)

/** Creates a key of the account with these restrictions, and returns the account with it. */
export const restricted = async (account: Account, stage: Stage, restrictions: object): Promise<Account> => {
  const path = `/admin/v1/accounts/${account.id}/keys`
  const { key } = await jsonOf<{ readonly key: string }>(
    await stage.admin.post(path, { name: "restricted", ...restrictions })
  )
  return { ...account, ...stage.withToken(key), key }
}

/** Body of POST /v1/generations. */
export const bodyOf = ({ model = "picture", params, plan = "credits" }: Wish = {}) => ({
  plan,
  model,
  params: { prompt: "a lake", ...params }
})

/** Sends POST /v1/images/generations. */
export const image = (
  account: RawClient,
  body: Readonly<Record<string, unknown>> = {},
  headers?: Readonly<Record<string, string>>
): Promise<Response> =>
  account.post("/v1/images/generations", { model: "credits-only", prompt: "a lake", ...body }, headers)

/** Sends POST /v1/images/generations, and repeats it while the image is pending. */
export const finishedImage = async (...request: Parameters<typeof image>): Promise<Response> => {
  let response = await image(...request)
  while (response.status === 504) response = await image(...request)
  return response
}

/** Creates a job, which must be new. */
export const createJob = async (account: Account, wish?: Wish): Promise<Job> => {
  const response = await create(account, wish)
  const job = await jsonOf<Job>(response)
  expect([response.status, job], "a new job").toEqual([201, expect.objectContaining({ id: expect.any(String) })])
  return job
}

/** Gets JSON. The status must be 200. */
export const get = async <Body>(client: RawClient, path: string): Promise<Body> => {
  const response = await client.send(path)
  expect([path, response.status]).toEqual([path, 200])
  return jsonOf<Body>(response)
}

/** Returns the value, which must not be `null`. */
export const present = <A>(value: A | null): A => {
  if (value === null) throw new Error("The value is null")
  return value
}

/** Gets the account report. */
export const reportOf = (account: RawClient) => get<Client.AccountReport>(account, "/v1/account")

/** Gets the usage report. */
export const usageOf = async (account: RawClient, query = "") => {
  const { data, ...report } = await get<Client.UsageReport>(account, `/v1/usage${query}`)
  return { ...report, data: present(data) }
}

/** A page of the list of jobs. */
export interface Page {
  readonly data: ReadonlyArray<Job>
  readonly next_cursor: string | null
}

/** Lists the jobs of the account, newest first. */
export const listJobs = (account: RawClient, query = "") => get<Page>(account, `/v1/generations${query}`)

/** A model of the list. */
export type Model = Readonly<Record<string, unknown>>

/** Lists the models. */
export const listModels = async (account: RawClient): Promise<ReadonlyArray<Model>> =>
  (await get<{ readonly data: ReadonlyArray<Model> }>(account, "/v1/models")).data

/** Gets a job. */
export const read = async (account: RawClient, id: string, query = ""): Promise<Job> =>
  jsonOf<Job>(await account.send(`/v1/generations/${id}${query}`))

/** Returns the job once it has ended. */
export const awaitEnd = async (account: Account, id: string): Promise<Job> => {
  let job = await read(account, id, "?wait=60")
  while (!Client.isFinal(job)) job = await read(account, id, "?wait=60")
  return job
}

/** Creates a job and returns it once it has ended. */
export const ended = async (account: Account, wish?: Wish): Promise<Job> =>
  awaitEnd(account, (await createJob(account, wish)).id)

/** Creates a job and returns it with its result. */
export const completed = async (account: Account, wish?: Wish) => {
  const { output, ...job } = await ended(account, wish)
  if (output === null) throw new Error(`${job.id} is ${job.status} and has no result`)
  return { ...job, output }
}

/** Creates a job that does not end by itself, and returns it once it runs. */
export const processing = async (account: Account, wish?: Wish): Promise<Job> => {
  const { id } = await createJob(account, { model: "slow", ...wish })
  return awaitStatus(account, id, "processing")
}

/** Returns the job once its event stream reports this status. */
export const awaitStatus = async (account: Account, id: string, status: string): Promise<Job> => {
  const { body } = await account.send(`/v1/generations/${id}/events`)
  let told = ""
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += text
    if (told.includes(`"status":"${status}"`)) return read(account, id)
  }
  throw new Error(`${id} does not become ${status}`)
}

/** Cancels the job. */
export const cancel = (account: Account, id: string): Promise<Response> => account.post(`/v1/generations/${id}/cancel`)

/** JSON body of a response. */
export const jsonOf = async <Body = Readonly<Record<string, unknown>>>(response: Response): Promise<Body> =>
  await response.json() as Body

/** Content of an error response. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly plan: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** The error of a response. */
export const errorOf = async (response: Response): Promise<Refusal> =>
  (await jsonOf<{ readonly error: Refusal }>(response)).error

/** Returns the error of a response, which must have this status, this code and exactly the documented body. */
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

/** The delays of a response, which must have whole seconds and milliseconds. */
export const retryOf = (response: Response): { readonly seconds: number; readonly millis: number } => {
  const seconds = response.headers.get("retry-after") ?? ""
  const millis = response.headers.get("retry-after-ms") ?? ""
  expect([seconds, millis]).toEqual([expect.stringMatching(/^[1-9]\d*$/), expect.stringMatching(/^\d+$/)])
  return { seconds: Number(seconds), millis: Number(millis) }
}

/** The rate limit headers. */
export const limitOf = (response: Response) => ({
  limit: Number(response.headers.get("x-ratelimit-limit") ?? Number.NaN),
  remaining: Number(response.headers.get("x-ratelimit-remaining") ?? Number.NaN),
  reset: Number(response.headers.get("x-ratelimit-reset") ?? Number.NaN)
})

/** Credits that the account can spend. */
export const creditsOf = async (account: RawClient): Promise<number> =>
  (await reportOf(account)).plans.credits.credits_remaining

/** `count` numbers from 0. */
export const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

/** Runs the steps. If they fail and a minute ended meanwhile, runs them again, because rate limits have restarted. */
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
