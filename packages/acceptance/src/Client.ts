/** A client of the interface that knows nothing of the code behind it: `fetch`, and the job object. */
import { Data, Effect, Option, Schema } from "effect"

/** States after which nothing changes. */
const finalStatuses = ["completed", "failed", "cancelled"] as const

/** The part of the job object that tests look at. */
export const Job = Schema.Struct({
  id: Schema.String,
  status: Schema.Literals(["pending", "queued", "processing", ...finalStatuses]),
  cost_credits: Schema.NullOr(Schema.Int),
  refunded: Schema.Boolean,
  error_code: Schema.NullOr(Schema.String),
  output: Schema.NullOr(Schema.Struct({ url: Schema.String, mime: Schema.String, bytes: Schema.Int })),
  created_at: Schema.String,
  started_at: Schema.NullOr(Schema.String),
  finished_at: Schema.NullOr(Schema.String)
})
/** See the schema of the same name. */
export type Job = typeof Job.Type

/** Whether the job has ended. */
export const isFinal = ({ status }: Job): boolean => finalStatuses.some((final) => final === status)

/** No answer: the server is not there, or went away while it was asked. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly cause: unknown }> {}

/** Requests that may wait for a job at the same time with one key; those beyond are answered at once. */
export const longPollsMax = 20

/** What a server answered. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/** Sends a request and reads the answer to its end. */
export const send = (url: string, init: RequestInit = {}): Effect.Effect<Answer, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { ...init, signal })
      return { status: response.status, headers: response.headers, bytes: await response.bytes() }
    },
    catch: (cause) => new NoAnswer({ cause })
  })

/** The job in an answer. An answer without one is a defect that shows it. */
export const jobOf = (answer: Answer): Job =>
  Option.getOrThrowWith(decodeJob(textOf(answer)), () => new Error(`No job: ${answer.status} ${textOf(answer)}`))

/** The jobs of a list. An answer without them is a defect that shows it. */
export const jobsOf = (answer: Answer): ReadonlyArray<Job> =>
  Option.getOrThrowWith(decodeJobs(textOf(answer)), () => new Error(`No jobs: ${answer.status} ${textOf(answer)}`)).data

/** The `code` of an error envelope, or `undefined` when the answer is none. */
export const errorCodeOf = (answer: Answer): string | undefined =>
  Option.getOrUndefined(decodeError(textOf(answer)))?.error.code

/** What a job is asked for; `prompt` tells it from others when there is no key. */
export interface Order {
  readonly model: string
  readonly plan?: "studio" | "credits"
  readonly prompt?: string
  readonly idempotencyKey?: string
}

/** The interface with one API key. */
export const make = (baseUrl: string, apiKey: string) => {
  const authorization = `Bearer ${apiKey}`
  const request = (
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> } = {}
  ) => send(`${baseUrl}${path}`, { ...init, headers: { authorization, ...init.headers } })

  const get = (id: string, waitSeconds = 0) => Effect.map(request(`/v1/generations/${id}?wait=${waitSeconds}`), jobOf)

  return {
    /** Anything, with the key. */
    request,

    create: ({ idempotencyKey, model, plan = "credits", prompt = "a lake" }: Order) =>
      request("/v1/generations", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey })
        },
        body: JSON.stringify({ plan, model, params: { prompt } })
      }),

    cancel: (id: string) => request(`/v1/generations/${id}/cancel`, { method: "POST" }),

    get,

    /** The job once it has ended, however often that has to be asked for. */
    awaitEnd: (id: string) => Effect.repeat(get(id, 60), { until: isFinal })
  }
}

/** See `make`. */
export type Client = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const textOf = ({ bytes }: Answer) => new TextDecoder().decode(bytes)

const decodeJob = Schema.decodeUnknownOption(Schema.fromJsonString(Job))

const decodeJobs = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ data: Schema.Array(Job) })))

const decodeError = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))
)
