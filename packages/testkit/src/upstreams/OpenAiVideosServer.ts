/** A server with the interface of OpenAI's videos API. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./Listener.ts"
import { changesOf, formOf, scripted, sendFile } from "./ScriptedServer.ts"

/** A job. */
interface Video {
  readonly id: string
  readonly status: string
  readonly progress?: number
  readonly error?: unknown
}

/** Starts a server. */
export const openAiVideos = Effect.gen(function*() {
  const videos = new Map<string, Video>()
  const forms: Array<FormData> = []
  const files = new Map<string, { readonly mime: string; readonly bytes: Uint8Array }>()

  const create = async (request: Received, response: ServerResponse) => {
    forms.push(await formOf(request))
    const video = { id: `video_${forms.length}`, object: "video", status: "queued", progress: 0 }
    videos.set(video.id, video)
    json(response, 200, video)
  }

  const notFound = (response: ServerResponse) =>
    json(response, 404, { error: { message: "no such video", code: "not_found" } })

  const server = yield* scripted((request, response) => {
    const { pathname, searchParams } = new URL(request.path, "http://localhost")
    if (request.method === "POST") return void create(request, response)
    const [, , , id = "", content] = pathname.split("/")
    const video = videos.get(decodeURIComponent(id))
    if (video === undefined) return notFound(response)
    if (request.method === "DELETE") {
      videos.delete(video.id)
      return json(response, 200, { id: video.id, object: "video.deleted", deleted: true })
    }
    if (content === undefined) return json(response, 200, video)
    const file = files.get(searchParams.get("variant") ?? "video")
    return file === undefined || video.status !== "completed"
      ? notFound(response)
      : sendFile(response, file.mime, file.bytes)
  })

  return {
    ...server,
    videos,
    /** Forms of submitted jobs, oldest first. */
    forms,
    /** Files by variant. */
    files,
    /** Changes the only job. */
    change: changesOf(videos)
  }
})
