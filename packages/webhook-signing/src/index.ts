export * as Secret from "./Secret.ts"
export * as Signature from "./Signature.ts"
export * as Webhook from "./Webhook.ts"
