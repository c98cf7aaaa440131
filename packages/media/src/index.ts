export * as Media from "./Media.ts"
export * as MediaError from "./MediaError.ts"
