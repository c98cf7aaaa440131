/** A server of OpenRouter's API of videos. */
import { Effect } from "effect"
import { json } from "./Listener.ts"
import type { File } from "./Results.ts"
import { changesOf, scripted, sendFile } from "./ScriptedServer.ts"

/** A job. */
interface Video {
  readonly id: string
  readonly status: string
  readonly error?: string
}

/** Starts a server. */
export const openRouter = Effect.gen(function*() {
  const videos = new Map<string, Video>()
  const submitted: Array<unknown> = []
  const content: { file?: File } = {}

  const server = yield* scripted(({ body, method, path }, response) => {
    if (method === "POST" && path === "/api/v1/videos") {
      submitted.push(JSON.parse(String(body)))
      const id = `job-${submitted.length}`
      videos.set(id, { id, status: "pending" })
      return json(response, 202, { id, polling_url: `/api/v1/videos/${id}`, status: "pending" })
    }
    const [, , , , id = "", action] = path.split("/")
    const video = videos.get(id)
    if (method !== "GET" || video === undefined) return json(response, 404, { error: { code: 404, message: "no" } })
    if (action === undefined) return json(response, 200, { ...video, polling_url: `/api/v1/videos/${id}` })
    return video.status === "completed" && content.file !== undefined
      ? sendFile(response, content.file.mime, content.file.bytes)
      : json(response, 404, { error: { code: 404, message: "no content" } })
  })

  return {
    ...server,
    videos,
    /** Submitted jobs, oldest first. */
    submitted,
    /** The result of every job. */
    content,
    /** Changes the only job. */
    change: changesOf(videos)
  }
})
