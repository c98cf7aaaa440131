/** Typed client of the HTTP API. It uses `fetch` and the contract only, not the code of the service. */
import { type Account, Generation, type Usage } from "@kinora/http-api"
import { Data, Effect, Option, Schedule, Schema } from "effect"

/** Statuses after which a job does not change. */
const finalStatuses = ["completed", "failed", "cancelled"] as const

/** The job object, as the contract defines its JSON. */
export type Job = typeof Generation.Generation.Encoded

/** The account report, as the contract defines its JSON. */
export type AccountReport = typeof Account.Account.Encoded

/** The usage report, as the contract defines its JSON. */
export type UsageReport = typeof Usage.UsageReport.Encoded

/** Whether the job has ended. */
export const isFinal = ({ status }: { readonly status: string }): boolean =>
  finalStatuses.some((final) => final === status)

/** No response arrived: the server is not running, or stopped during the request. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly cause: unknown }> {}

/** Maximum number of waiting requests per key. The service responds to further ones at once. */
export const longPollsMax = 20

/** Response of a server. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/** Sends a request and reads the response to its end. */
export const send = (url: string, init: RequestInit = {}): Effect.Effect<Answer, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { ...init, signal })
      return { status: response.status, headers: response.headers, bytes: await response.bytes() }
    },
    catch: (cause) => new NoAnswer({ cause })
  })

/**
 * Repeats a request while the response is 503, as clients of the service do: a machine that is too busy for a statement of
 * the database within its time limit causes one.
 */
export const untilAvailable = <E>(request: Effect.Effect<Answer, E>): Effect.Effect<Answer, E> =>
  Effect.repeat(request, { while: ({ status }) => status === 503, schedule: Schedule.spaced("250 millis") })

/** The job in a response. Throws if there is none. */
export const jobOf = (answer: Answer): Job =>
  Option.getOrThrowWith(decodeJob(textOf(answer)), () => new Error(`No job: ${answer.status} ${textOf(answer)}`))

/** The jobs of a list. Throws if there is none. */
export const jobsOf = (answer: Answer): ReadonlyArray<Job> =>
  Option.getOrThrowWith(decodeJobs(textOf(answer)), () => new Error(`No jobs: ${answer.status} ${textOf(answer)}`)).data

/** The `code` of an error response, or `undefined` if it is not one. */
export const errorCodeOf = (answer: Answer): string | undefined =>
  Option.getOrUndefined(decodeError(textOf(answer)))?.error.code

/** Request to create a job. Without a key, requests with different prompts create different jobs. */
export interface Order {
  readonly model: string
  readonly plan?: "studio" | "credits"
  readonly prompt?: string
  readonly idempotencyKey?: string
}

/** Client with one API key. */
export const make = (baseUrl: string, apiKey: string) => {
  const authorization = `Bearer ${apiKey}`
  const request = (
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> } = {}
  ) => send(`${baseUrl}${path}`, { ...init, headers: { authorization, ...init.headers } })

  const get = (id: string, waitSeconds = 0) =>
    Effect.map(untilAvailable(request(`/v1/generations/${id}?wait=${waitSeconds}`)), jobOf)

  const create = ({ idempotencyKey, model, plan = "credits", prompt = "a lake" }: Order) =>
    request("/v1/generations", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey })
      },
      body: JSON.stringify({ plan, model, params: { prompt } })
    })

  return {
    /** Sends any request with the key. */
    request,

    create,

    /** Creates a job and returns it. Repeated while unavailable. */
    createJob: (order: Order) => Effect.map(untilAvailable(create(order)), jobOf),

    cancel: (id: string) => request(`/v1/generations/${id}/cancel`, { method: "POST" }),

    /** Returns the job, or its state after so many seconds if it has not ended by then. Repeated while unavailable. */
    get,

    /** Returns the job once it has ended. */
    awaitEnd: (id: string) => Effect.repeat(get(id, 60), { until: isFinal })
  }
}

/** See `make`. */
export type Client = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const textOf = ({ bytes }: Answer) => new TextDecoder().decode(bytes)

const JobJson = Schema.toEncoded(Generation.Generation)

const decodeJob = Schema.decodeUnknownOption(Schema.fromJsonString(JobJson))

const decodeJobs = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ data: Schema.Array(JobJson) })))

const decodeError = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))
)
