export * as ServerHost from "./ServerHost.ts"
