/** A server with the HTTP API of Kinora, as `docs/reference/http-api.md` describes it. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import type { Received } from "./Listener.ts"
import { json } from "./Listener.ts"
import { scripted, sendFile } from "./ScriptedServer.ts"

/** A job. */
export interface Job {
  readonly id: string
  readonly kind: string
  status: string
  error: { readonly code: string; readonly message: string; readonly reason: string | null } | null
  next?: { readonly action: "poll"; readonly after_seconds: number } | undefined
}

/** Listens, with controls of the jobs. `file` is the result of every job. */
export const kinoraServer = (file: { readonly mime: string; readonly bytes: Uint8Array }) =>
  Effect.gen(function*() {
    const jobs = new Map<string, Job>()
    const keys = new Map<string, { readonly job: Job; readonly body: string }>()

    const create = ({ body, headers }: Received, response: ServerResponse) => {
      const key = String(headers["idempotency-key"])
      const known = keys.get(key)
      if (known !== undefined) {
        return known.body === String(body)
          ? json(response, 200, known.job, { "idempotent-replayed": "true" })
          : refuse(response, 422, "idempotency_key_reused")
      }
      const job: Job = {
        id: `gen_${keys.size}`,
        kind: "image",
        status: "queued",
        error: null,
        next: { action: "poll", after_seconds: 2 }
      }
      jobs.set(job.id, job)
      keys.set(key, { job, body: String(body) })
      json(response, 201, job, { "idempotent-replayed": "false" })
    }

    const cancel = (job: Job, response: ServerResponse) => {
      if (job.status !== "queued" && job.status !== "cancelled") return refuse(response, 409, "not_cancellable")
      job.status = "cancelled"
      json(response, 200, job)
    }

    const server = yield* scripted((request, response) => {
      if (request.headers.authorization !== `Bearer ${kinoraKey}`) return refuse(response, 401, "unauthorized")
      if (request.method === "POST" && request.path === "/v1/generations") return create(request, response)
      const [, id = "", part] = /^\/v1\/generations\/([^/?]+)(?:\/([a-z]+))?(?:\?wait=1)?$/.exec(request.path) ?? []
      const job = jobs.get(id)
      if (job === undefined) return refuse(response, 404, "not_found")
      if (part === undefined) return json(response, 200, job)
      if (part === "cancel") return cancel(job, response)
      if (!["completed", "failed", "cancelled"].includes(job.status)) return refuse(response, 409, "result_not_ready")
      return part === "content" && job.status === "completed"
        ? sendFile(response, file.mime, file.bytes)
        : refuse(response, 404, "result_not_found")
    })
    return { ...server, all: jobs, keys }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The API key that the server accepts. */
const kinoraKey = "hunter2-hunter2"

const refuse = (response: ServerResponse, status: number, code: string) =>
  json(response, status, { error: { code, message: code, plan: null, details: {} } })
