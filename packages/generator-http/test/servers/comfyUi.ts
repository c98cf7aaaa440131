/** A ComfyUI server: a queue, a history, uploads and files, all in memory. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./listen.ts"
import { formOf, scripted, sendFile } from "./scripted.ts"

/** A prompt in the queue. */
interface Prompt {
  readonly id: string
  readonly workflow: unknown
}

/** Starts a server. */
export const comfyUi = Effect.gen(function*() {
  const pending: Array<Prompt> = []
  const running: Array<Prompt> = []
  const history = new Map<string, unknown>()
  const files = new Map<string, { readonly mime: string; readonly bytes: Uint8Array }>()
  const uploads: Array<string> = []
  const settings = { ignoresIds: false }

  const submit = (response: ServerResponse, body: Record<string, unknown>) => {
    const id = settings.ignoresIds ? "chosen-by-the-server" : String(body["prompt_id"])
    pending.push({ id, workflow: body["prompt"] })
    json(response, 200, { prompt_id: id, number: pending.length, node_errors: {} })
  }

  const upload = async (response: ServerResponse, request: Received) => {
    const file = (await formOf(request)).get("image") as File
    uploads.push(file.name)
    json(response, 200, { name: file.name, subfolder: "", type: "input" })
  }

  const view = (response: ServerResponse, query: URLSearchParams) => {
    const file = files.get(query.get("filename") ?? "")
    if (file === undefined || query.get("type") !== "output") return void response.writeHead(404).end()
    sendFile(response, file.mime, file.bytes)
  }

  const remove = (prompts: Array<Prompt>, id: string) => {
    const index = prompts.findIndex((prompt) => prompt.id === id)
    return index < 0 ? [] : prompts.splice(index, 1)
  }

  const end = (id: string, entry: unknown) => {
    remove(pending, id)
    remove(running, id)
    history.set(id, entry)
  }

  const interrupted = {
    status: { status_str: "error", completed: false, messages: [["execution_interrupted", {}]] },
    outputs: {}
  }

  const get = (response: ServerResponse, { pathname, searchParams }: URL) => {
    if (pathname === "/view") return view(response, searchParams)
    if (pathname === "/queue") {
      const rows = (prompts: ReadonlyArray<Prompt>) =>
        prompts.map(({ id, workflow }, index) => [index, id, workflow, {}, ["9"]])
      return json(response, 200, { queue_running: rows(running), queue_pending: rows(pending) })
    }
    const id = decodeURIComponent(pathname.replace("/history/", ""))
    json(response, 200, history.has(id) ? { [id]: history.get(id) } : {})
  }

  const post = (response: ServerResponse, request: Received) => {
    if (request.path === "/upload/image") return void upload(response, request)
    const body = JSON.parse(String(request.body)) as Record<string, unknown>
    if (request.path === "/prompt") return submit(response, body)
    if (request.path === "/queue") { for (const id of body["delete"] as ReadonlyArray<string>) remove(pending, id) }
    else for (const { id } of running.splice(0)) end(id, interrupted)
    response.writeHead(200).end()
  }

  const server = yield* scripted((request, response) =>
    request.method === "GET" ? get(response, new URL(request.path, "http://localhost")) : post(response, request)
  )

  return {
    ...server,
    settings,
    pending,
    running,
    uploads,
    /** Starts the oldest prompt. */
    run: () => void running.push(...pending.splice(0, 1)),
    /** Ends a prompt with files of one node: a preview, which is temporary, and the result. */
    finish: (id: string, filename: string, mime: string, bytes: Uint8Array, list = "images") => {
      files.set(filename, { mime, bytes })
      end(id, {
        status: { status_str: "success", completed: true, messages: [] },
        outputs: {
          "8": { images: [{ filename: "preview.png", subfolder: "", type: "temp" }], text: ["a"] },
          "9": { [list]: [{ filename, subfolder: "", type: "output" }], animated: [true] }
        }
      })
    },
    /** Ends a prompt with this entry of the history. */
    end,
    /** Forgets everything, as ComfyUI does when it restarts. */
    restart: () => {
      for (const prompts of [pending, running, uploads]) prompts.length = 0
      history.clear()
    }
  }
})
