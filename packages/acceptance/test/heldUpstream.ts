/**
 * An upstream that withholds chosen responses, so that a drill can stop a worker at an exact moment. It has two
 * protocols: that of Kinora, whose requests have an idempotency key, and that of Replicate, whose requests have none.
 */
import { Deferred, Effect, type Scope } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * A response of a job: to its submission, which has created the job, to a poll, or the second half of its result, whose
 * first half was sent.
 */
type Moment = "submit" | "poll" | "result"

/** A withheld response. */
interface Held {
  /** Waits until the response is withheld. */
  readonly reached: Effect.Effect<void>
  /** Sends it. */
  readonly release: Effect.Effect<void>
}

/** A listening upstream. All its jobs complete at once. */
export interface HeldUpstream {
  /** Base URL of the Kinora protocol. */
  readonly kinora: string
  /** Base URL of the Replicate protocol. */
  readonly replicate: string
  /** Withholds the first response of this kind to the job with this prompt. */
  readonly hold: (prompt: string, moment: Moment) => Held
  /** Number of jobs that were created, and would be paid, for this prompt. */
  readonly created: (prompt: string) => number
}

/** Listens until the scope closes. `result` is the PNG of every job. */
export const make = (result: Uint8Array): Effect.Effect<HeldUpstream, never, Scope.Scope> =>
  Effect.gen(function*() {
    const jobs: Array<Job> = []
    const holds = new Map<string, Hold>()
    const pass: Pass = (prompt, moment, respond) => {
      const held = holds.get(`${prompt} ${moment}`)
      if (held === undefined || Deferred.isDoneUnsafe(held.reached)) return respond()
      held.respond = respond
      Deferred.doneUnsafe(held.reached, Effect.void)
    }
    const server = createServer((request, response) => {
      void handle({ jobs, pass, result }, request, response).catch(() => response.destroy())
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => {
        server.listen(0, "127.0.0.1")
        return once(server, "listening")
      }),
      () =>
        Effect.promise(() => {
          const closed = once(server, "close")
          server.close()
          server.closeAllConnections()
          return closed
        })
    )
    // A server that listens on TCP has such an address.
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return {
      kinora: `${origin}/kinora`,
      replicate: `${origin}/replicate`,
      hold: (prompt, moment) => {
        const held: Hold = { reached: Deferred.makeUnsafe(), respond: undefined }
        holds.set(`${prompt} ${moment}`, held)
        return { reached: Deferred.await(held.reached), release: Effect.sync(() => held.respond?.()) }
      },
      created: (prompt) => jobs.filter((job) => job.prompt === prompt).length
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Job {
  readonly id: string
  readonly prompt: string
  /** Idempotency key; absent in the protocol of Replicate. */
  readonly key: string | undefined
}

interface Hold {
  readonly reached: Deferred.Deferred<void>
  respond: (() => void) | undefined
}

/** Responds, unless the response is withheld. */
type Pass = (prompt: string, moment: Moment, respond: () => void) => void

interface State {
  readonly jobs: Array<Job>
  readonly pass: Pass
  readonly result: Uint8Array
}

const handle = async (state: State, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { pass, result } = state
  const { headers: { host = "" }, method, url = "" } = request
  const protocol = url.startsWith("/kinora/") ? kinora : replicate
  if (method === "POST") {
    const { isNew, job } = create(state.jobs, await bodyOf(request), request.headers["idempotency-key"])
    return pass(job.prompt, "submit", () => json(response, isNew ? 201 : 200, protocol(job, host)))
  }
  const job = state.jobs.find(({ id }) => url.includes(id))
  if (job === undefined) return json(response, 404, { error: { code: "not_found" }, detail: "not found" })
  if (!url.endsWith("/content")) return pass(job.prompt, "poll", () => json(response, 200, protocol(job, host)))
  const half = result.length >> 1
  response.writeHead(200, { "content-type": "image/png", "content-length": result.length })
  response.write(
    result.subarray(0, half),
    () => pass(job.prompt, "result", () => void response.end(result.subarray(half)))
  )
}

/** Creates a job, or returns that of an earlier request with the same key. */
const create = (jobs: Array<Job>, body: string, header: string | ReadonlyArray<string> | undefined) => {
  const key = header === undefined ? undefined : String(header)
  const known = jobs.find((job) => key !== undefined && job.key === key)
  if (known !== undefined) return { job: known, isNew: false }
  const { input, params } = JSON.parse(body) as { readonly [part in "input" | "params"]?: { readonly prompt: string } }
  const job: Job = { id: `job-${jobs.length}-of-the-upstream`, prompt: (input ?? params)?.prompt ?? "", key }
  jobs.push(job)
  return { job, isNew: true }
}

const kinora = ({ id }: Job) => ({ id, status: "completed", error: null })

const replicate = ({ id }: Job, host: string) => ({
  id,
  status: "succeeded",
  output: [`http://${host}/replicate/${id}/content`]
})

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString()
}
