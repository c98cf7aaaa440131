export * as Database from "./Database.ts"
export * as DataDirectory from "./DataDirectory.ts"
export * as Settings from "./Settings.ts"
