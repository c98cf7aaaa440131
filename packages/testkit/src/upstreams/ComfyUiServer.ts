/** A ComfyUI server: a queue, a history, uploads and files, all in memory. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./Listener.ts"
import { formOf, scripted, sendFile } from "./ScriptedServer.ts"

/** A prompt in the queue. */
interface Prompt {
  readonly id: string
  readonly workflow: unknown
}

/** Starts a server. */
export const comfyUi = Effect.gen(function*() {
  const prompts = makePrompts()
  const { end, pending, running } = prompts
  const files = new Map<string, { readonly mime: string; readonly bytes: Uint8Array }>()
  const uploads: Array<string> = []
  const settings = { ignoresIds: false }

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

  const server = yield* scripted((request, response) => {
    const { pathname, searchParams } = new URL(request.path, "http://localhost")
    if (request.method === "GET") {
      return pathname === "/view" ? view(response, searchParams) : json(response, 200, prompts.read(pathname))
    }
    if (pathname === "/upload/image") return void upload(response, request)
    const body = JSON.parse(String(request.body)) as Record<string, unknown>
    if (pathname === "/prompt") {
      const id = settings.ignoresIds ? "chosen-by-the-server" : String(body["prompt_id"])
      pending.push({ id, workflow: body["prompt"] })
      return json(response, 200, { prompt_id: id, number: pending.length, node_errors: {} })
    }
    prompts.change(pathname, body)
    response.writeHead(200).end()
  })

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
      end(id, succeeded(filename, list))
    },
    /** Ends a prompt with this entry of the history. */
    end,
    /** Forgets everything, as ComfyUI does when it restarts. */
    restart: () => {
      prompts.clear()
      uploads.length = 0
    }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The queue and the history. */
const makePrompts = () => {
  const pending: Array<Prompt> = []
  const running: Array<Prompt> = []
  const history = new Map<string, unknown>()

  const remove = (prompts: Array<Prompt>, id: string) => {
    const index = prompts.findIndex((prompt) => prompt.id === id)
    return index < 0 ? [] : prompts.splice(index, 1)
  }

  const end = (id: string, entry: unknown) => {
    remove(pending, id)
    remove(running, id)
    history.set(id, entry)
  }

  return {
    pending,
    running,
    end,
    /** Returns the queue, or the history of the prompt in the path. */
    read: (pathname: string): unknown => {
      if (pathname === "/queue") return { queue_running: rowsOf(running), queue_pending: rowsOf(pending) }
      const id = decodeURIComponent(pathname.replace("/history/", ""))
      return history.has(id) ? { [id]: history.get(id) } : {}
    },
    /** Deletes waiting prompts, or interrupts the running ones. */
    change: (pathname: string, body: Record<string, unknown>) => {
      if (pathname === "/queue") { for (const id of body["delete"] as ReadonlyArray<string>) remove(pending, id) }
      else for (const { id } of running.splice(0)) end(id, interrupted)
    },
    clear: () => {
      for (const prompts of [pending, running]) prompts.length = 0
      history.clear()
    }
  }
}

const rowsOf = (prompts: ReadonlyArray<Prompt>) =>
  prompts.map(({ id, workflow }, index) => [index, id, workflow, {}, ["9"]])

const interrupted = {
  status: { status_str: "error", completed: false, messages: [["execution_interrupted", {}]] },
  outputs: {}
}

const succeeded = (filename: string, list: string) => ({
  status: { status_str: "success", completed: true, messages: [] },
  outputs: {
    "8": { images: [{ filename: "preview.png", subfolder: "", type: "temp" }], text: ["a"] },
    "9": { [list]: [{ filename, subfolder: "", type: "output" }], animated: [true] }
  }
})
