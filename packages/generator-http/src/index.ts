export * as ComfyUi from "./ComfyUi.ts"
export * as UpstreamOptions from "./UpstreamOptions.ts"
