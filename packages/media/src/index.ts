export * as Media from "./Media.ts"
export * as MediaError from "./MediaError.ts"
export * as MediaFile from "./MediaFile.ts"
export * as ProbeError from "./ProbeError.ts"
