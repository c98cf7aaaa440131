/** A server written by hand with Fastify and `pg`, on its own database. */
import { Effect } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt, type Environment } from "./Benchmark.ts"
import * as HttpContestants from "./HttpContestants.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as ServerProcess from "./ServerProcess.ts"

/** Starts `fastifyServer.ts`. */
export const make = Effect.fnUntraced(function*(environment: Environment) {
  const url = yield* environment.database
  yield* attempt("The tables of Fastify could not be created", () => PostgresServer.run(url, schema))
  const directory = yield* Effect.acquireRelease(
    attempt("No directory for the images", () => mkdtemp(join(tmpdir(), "kinora-bench-images-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const origin = yield* ServerProcess.make({
    module: join(import.meta.dirname, "fastifyServer.ts"),
    args: [url, directory],
    environment: {}
  })
  return HttpContestants.make({
    name: "Fastify + pg by hand",
    origin,
    database: url,
    makeKeys: (count) => attempt("The accounts of Fastify could not be created", () => makeKeys(url, count))
  }, environment)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const schema = `
  CREATE TABLE account (id uuid PRIMARY KEY, key_hash text NOT NULL UNIQUE, credits int8 NOT NULL CHECK (credits >= 0));
  CREATE TABLE idempotency (account uuid NOT NULL, key text NOT NULL, job uuid NOT NULL, PRIMARY KEY (account, key));
  CREATE TABLE job (
    id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), model text NOT NULL,
    status text NOT NULL DEFAULT 'queued', params jsonb NOT NULL, cost int4 NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
`

const makeKeys = async (url: string, count: number): Promise<ReadonlyArray<string>> => {
  const keys = Array.from({ length: count }, () => `key_${randomUUID()}`)
  const hashes = keys.map((key) => createHash("sha256").update(`Bearer ${key}`).digest("hex"))
  await PostgresServer.withClient(url, (client) =>
    client.query(
      "INSERT INTO account (id, key_hash, credits) SELECT gen_random_uuid(), hash, 20000 FROM unnest($1::text[]) AS hash",
      [hashes]
    ))
  return keys
}
