export * as ComfyUi from "./ComfyUi.ts"
export * as OpenAiVideos from "./OpenAiVideos.ts"
export * as UpstreamOptions from "./UpstreamOptions.ts"
