export * as UpstreamOptions from "./UpstreamOptions.ts"
