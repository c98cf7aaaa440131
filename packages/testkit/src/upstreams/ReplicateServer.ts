/** A server of Replicate's API, and one of its result files on another origin. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./Listener.ts"
import { changesOf, formOf, resultServer, scripted } from "./ScriptedServer.ts"

/** A job. */
interface Prediction {
  readonly id: string
  readonly status: string
  readonly output?: unknown
  readonly error?: string
  readonly data_removed?: boolean
}

/** Starts the servers. */
export const replicate = Effect.gen(function*() {
  const predictions = new Map<string, Prediction>()
  const uploads: Array<File> = []
  const content: { file?: { readonly mime: string; readonly bytes: Uint8Array } } = {}
  const submitted: Array<{ readonly path: string; readonly body: unknown }> = []

  const files = yield* resultServer(content)

  const upload = async (request: Received, response: ServerResponse) => {
    uploads.push((await formOf(request)).get("content") as File)
    json(response, 201, { id: "file", urls: { get: `https://api.replicate.com/v1/files/${uploads.length}` } })
  }

  const create = ({ body, path }: Received, response: ServerResponse) => {
    submitted.push({ path, body: JSON.parse(String(body)) })
    const prediction = { id: `p${submitted.length}`, status: "starting", output: null, error: null }
    predictions.set(prediction.id, { id: prediction.id, status: prediction.status })
    json(response, 201, prediction)
  }

  const cancel = (id: string, response: ServerResponse) => {
    const prediction = predictions.get(id)
    if (prediction === undefined) return json(response, 404, { detail: "not found" })
    if (["succeeded", "failed"].includes(prediction.status)) return json(response, 200, prediction)
    predictions.delete(id)
    json(response, 200, { ...prediction, status: "canceled" })
  }

  const server = yield* scripted((request, response) => {
    const { method, path } = request
    if (method === "POST" && path === "/v1/files") return void upload(request, response)
    const [, , collection, id = "", action] = path.split("/")
    if (method === "POST" && action === "cancel") return cancel(id, response)
    if (method === "POST") return create(request, response)
    const prediction = collection === "predictions" ? predictions.get(id) : undefined
    json(response, prediction === undefined ? 404 : 200, prediction ?? { detail: "not found" })
  })

  return {
    ...server,
    /** The server of results. */
    files,
    /** The result that `files` serves. */
    content,
    predictions,
    uploads,
    /** Submitted jobs, oldest first. */
    submitted,
    /** Changes the only job. */
    change: changesOf(predictions)
  }
})
