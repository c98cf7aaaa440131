/** A server of fal's queue, and one of its result files on another origin. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json } from "./Listener.ts"
import { resultServer, scripted } from "./ScriptedServer.ts"

/** A request in the queue. */
interface Queued {
  readonly status: string
  readonly error?: string
  readonly error_type?: string
}

/** Starts the servers. */
export const fal = Effect.gen(function*() {
  const requests = new Map<string, Queued>()
  const submitted: Array<{ readonly path: string; readonly body: unknown }> = []
  const content: { file?: { readonly mime: string; readonly bytes: Uint8Array } } = {}
  const result = { status: 200, body: {} as unknown }

  const files = yield* resultServer(content)

  const create = (path: string, body: Buffer, origin: string, response: ServerResponse) => {
    submitted.push({ path, body: JSON.parse(String(body)) })
    const id = `r${submitted.length}`
    requests.set(id, { status: "IN_QUEUE" })
    // The path of the model is not part of these URLs.
    const url = `${origin}/fal-ai/flux/requests/${id}`
    json(response, 200, { request_id: id, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` })
  }

  const server = yield* scripted(({ body, headers, method, path }, response) => {
    if (method === "POST") return create(path, body, `http://${headers.host}`, response)
    const [, , , , id = "", action] = path.split("/")
    const queued = requests.get(id)
    if (queued === undefined) return json(response, 404, { detail: "not found" })
    const isEnded = queued.status === "COMPLETED"
    if (action === "status") {
      return json(response, isEnded ? 200 : 202, { ...queued, request_id: id, queue_position: 0 })
    }
    if (action === undefined) {
      return json(response, isEnded ? result.status : 400, isEnded ? result.body : { detail: "in progress" })
    }
    if (isEnded) return json(response, 400, { status: "ALREADY_COMPLETED" })
    requests.delete(id)
    json(response, 202, { status: "CANCELLATION_REQUESTED" })
  })

  return {
    ...server,
    /** The server of results. */
    files,
    /** The file that `files` serves. */
    content,
    /** Requests in the queue. */
    queue: requests,
    /** Response of the result URL of a completed request. */
    result,
    /** Submitted requests, oldest first. */
    submitted,
    /** Changes the only request. */
    change: (changes: Partial<Queued>) => {
      for (const [id, queued] of requests) requests.set(id, { ...queued, ...changes })
    }
  }
})
