export * as HttpModeration from "./HttpModeration.ts"
export * as Moderation from "./Moderation.ts"
export * as ModerationError from "./ModerationError.ts"
export * as OpenAiModeration from "./OpenAiModeration.ts"
