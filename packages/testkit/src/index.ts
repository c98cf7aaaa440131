export * as Certificates from "./Certificates.ts"
export * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
export * as NameServer from "./NameServer.ts"
export * as TestDatabase from "./TestDatabase.ts"
