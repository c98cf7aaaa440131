/** A server of the Comfy API v2, and one of its result files on another origin, to which it redirects. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./Listener.ts"
import type { File as ResultFile } from "./Results.ts"
import { formOf, resultServer, scripted } from "./ScriptedServer.ts"

/** A job. */
interface Job {
  readonly id: string
  readonly status: string
  readonly progress: { readonly value: number; readonly nodes_done: number; readonly nodes_total: number } | null
  readonly outputs: ReadonlyArray<unknown>
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Starts the servers. */
export const comfyApi = Effect.gen(function*() {
  const jobs = new Map<string, Job>()
  const keys = new Set<string>()
  const submitted: Array<unknown> = []
  const uploads: Array<File> = []
  const content: { file?: ResultFile } = {}

  const files = yield* resultServer(content)

  const create = ({ body, headers }: Received, response: ServerResponse) => {
    const key = String(headers["idempotency-key"])
    if (keys.has(key)) return json(response, 422, { error: { code: "idempotency_key_reuse", message: "used" } })
    keys.add(key)
    submitted.push(JSON.parse(String(body)))
    const job = { id: `job-${submitted.length}`, status: "queued", progress: null, outputs: [], error: null }
    jobs.set(job.id, job)
    json(response, 201, shown(job))
  }

  const upload = async (request: Received, response: ServerResponse) => {
    uploads.push((await formOf(request)).get("file") as File)
    json(response, 201, { id: `asset-${uploads.length}`, hash: null, content_type: "image/png", url: "/a" })
  }

  const server = yield* scripted((request, response) => {
    const { method, path } = request
    if (path === "/api/v2/jobs") return create(request, response)
    if (path === "/api/v2/assets") return void upload(request, response)
    if (path === "/api/v2/assets/result/content") {
      return void response.writeHead(302, { location: `${files.origin}/signed` }).end()
    }
    const [, , , , id = "", action] = path.split("/")
    const job = jobs.get(id)
    if (job === undefined) return json(response, 404, { error: { code: "not_found", message: "no" } })
    if (method === "POST" && action === "cancel" && ["queued", "running"].includes(job.status)) {
      jobs.set(id, { ...job, status: "canceled" })
    }
    json(response, 200, shown(jobs.get(id) ?? job))
  })

  return {
    ...server,
    /** The server of results. */
    files,
    /** The file that `files` serves. */
    content,
    jobs,
    uploads,
    /** Submitted jobs, oldest first. */
    submitted,
    /** Changes the only job that has not ended. */
    change: (changes: Partial<Job>) => {
      for (const job of jobs.values()) if (job.status !== "canceled") jobs.set(job.id, { ...job, ...changes })
    }
  }
})

/** The outputs of a job with this file as the result of the node 9. */
export const outputsOf = (file: ResultFile): Job["outputs"] => [
  { node_id: "7", type: "text", content_type: "text/plain", url: "/api/v2/assets/text/content" },
  {
    node_id: "9",
    type: file.mime.slice(0, file.mime.indexOf("/")),
    content_type: file.mime,
    url: "/api/v2/assets/result/content"
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Links are relative to the origin, as a gateway with a prefix returns them. */
const shown = (job: Job) => ({
  ...job,
  urls: {
    self: `/api/v2/jobs/${job.id}`,
    events: `/api/v2/jobs/${job.id}/events`,
    cancel: `/api/v2/jobs/${job.id}/cancel`
  }
})
