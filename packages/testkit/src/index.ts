export * as TestDatabase from "./TestDatabase.ts"
