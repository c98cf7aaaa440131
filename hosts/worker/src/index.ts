export * as WorkerHost from "./WorkerHost.ts"
