export * as Signature from "./Signature.ts"
