export * as PgliteClient from "./PgliteClient.ts"
