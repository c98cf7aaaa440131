/** A provider of videos, at a server of the videos API of OpenAI. */
import { APICallError, type experimental_startVideo } from "ai"

type VideoModel = Extract<
  Parameters<typeof experimental_startVideo>[0]["model"],
  { readonly specificationVersion: "v4" }
>

interface Options {
  readonly baseURL: string
  readonly apiKey: string
  /** How a completed video is returned. Default: as a URL. */
  readonly as?: "base64" | "binary" | "uploaded"
  readonly fetch?: typeof fetch
}

interface Job {
  readonly id: string
  readonly status: string
  readonly error?: { readonly message: string }
}

export const createVideos = ({ apiKey, as, baseURL, fetch: send = fetch }: Options) => {
  const call = async (path: string, init: RequestInit) => {
    const url = `${baseURL}${path}`
    const headers = new Headers(init.headers)
    headers.set("authorization", `Bearer ${apiKey}`)
    const response = await send(url, { ...init, headers })
    if (response.ok) return response
    throw new APICallError({
      message: "failed",
      url,
      requestBodyValues: {},
      statusCode: response.status,
      responseHeaders: Object.fromEntries(response.headers),
      responseBody: await response.text()
    })
  }
  const about = { timestamp: new Date(0), modelId: "video", headers: undefined }
  const videoOf = async (id: string) => {
    const url = `${baseURL}/videos/${id}/content`
    if (as === "uploaded") return { type: as, mediaType: "video/mp4" } as const
    if (as === undefined) return { type: "url", url, mediaType: "video/mp4" } as const
    const bytes = Buffer.from(await (await call(`/videos/${id}/content`, {})).arrayBuffer())
    return as === "binary"
      ? { type: as, data: bytes, mediaType: "video/mp4" } as const
      : { type: as, data: bytes.toString("base64"), mediaType: "video/mp4" } as const
  }
  const videoModel = (modelId: string): VideoModel => ({
    specificationVersion: "v4",
    provider: "test",
    modelId,
    maxVideosPerCall: 1,
    doGenerate: () => Promise.reject(new Error("A video is not polled inside of one call")),
    doStart: async ({ abortSignal, aspectRatio, duration, headers, image, prompt, resolution, seed }) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ model: modelId, prompt, aspectRatio, duration, resolution, seed })) {
        if (value !== undefined) form.set(name, String(value))
      }
      if (image?.type === "file") form.set("image", new Blob([new Uint8Array(Buffer.from(image.data as string))]))
      const response = await call("/videos", {
        method: "POST",
        body: form,
        headers: { "idempotency-key": headers?.["idempotency-key"] ?? "" },
        ...(abortSignal === undefined ? {} : { signal: abortSignal })
      })
      const { id } = await response.json() as Job
      return { operation: { id, note: undefined } as never, warnings: [], response: about }
    },
    doStatus: async ({ abortSignal, operation }) => {
      const { id } = operation as { readonly id: string }
      const response = await call(`/videos/${id}`, abortSignal === undefined ? {} : { signal: abortSignal })
      const { error, status } = await response.json() as Job
      if (status === "failed") return { status: "error", error: error?.message ?? "", response: about }
      return status === "completed"
        ? { status, videos: [await videoOf(id)], warnings: [], response: about }
        : { status: "pending", response: about }
    }
  })
  return { videoModel }
}

/** A provider whose only video model cannot be started. */
export const unstartable = { videoModel: () => ({ specificationVersion: "v4", doGenerate: () => Promise.reject() }) }
