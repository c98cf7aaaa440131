/** A host whose database starts later. */
import { assert, it } from "@effect/vitest"
import * as TcpProxy from "@kinora/testkit/TcpProxy"
import { Effect, Schedule } from "effect"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

it.live("a server waits for its database and is ready once it responds", () =>
  Effect.gen(function*() {
    const { databaseUrl, environment } = yield* makeSite("Postgres")
    const { port } = new URL(yield* Effect.scoped(Effect.map(TcpProxy.make(databaseUrl), ({ url }) => url)))
    const url = new URL(databaseUrl)
    url.host = `127.0.0.1:${port}`
    const server = yield* Program.start("server", { ...environment, KINORA_DATABASE_URL: url.href })
    yield* awaitOutput(server, ({ stderr }) => stderr.includes("The start is repeated"))
    yield* TcpProxy.make(databaseUrl, Number(port))
    yield* awaitOutput(server, ({ stdout }) => stdout.includes(`"base_url"`))
    assert.strictEqual((yield* server.stop).code, 0)
  }), { timeout: 300_000 })

const awaitOutput = ({ printed }: Program.Program, until: (printed: Program.Printed) => boolean) =>
  Effect.repeat(printed, { until, schedule: Schedule.spaced("50 millis") })
