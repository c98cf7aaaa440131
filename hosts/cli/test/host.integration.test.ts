/** Commands that run hosts, as processes: signals and exit codes are part of them. */
import { assert, describe, inject, it } from "@effect/vitest"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import * as PgliteDump from "@kinora/testkit/PgliteDump"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect, Schema } from "effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** Bundled by the global setup, since the bundle loads in a third of the time. */
const programs = process.env["ACCEPTANCE_PROGRAMS"] ?? "the global setup"
const main = join(programs, "hosts/cli/src/main.js")

/** Otherwise the command keeps its compiled modules in the home of the user. */
const compileCache = { NODE_COMPILE_CACHE: join(programs, "compiled") }

interface Outcome {
  readonly code: unknown
  readonly output: string
  readonly errors: string
}

/** Runs a command line to its end. */
const run = (directory: string, settings: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.callback<Outcome>((resume) => {
    const env = { ...compileCache, ...settings, KINORA_DATA_DIR: join(directory, "data") }
    execFile(
      process.execPath,
      [main, ...args],
      { cwd: directory, env },
      (error, output, errors) =>
        resume(Effect.succeed({ code: error?.code ?? 0, output: output.trim(), errors: errors.trim() }))
    )
  })

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(MemoryDirectory.parent(), "kinora-cli-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

const Ready = Schema.fromJsonString(Schema.Struct({ base_url: Schema.String, api_key: Schema.String }))

describe.concurrent("a host", { timeout: 300_000 }, () => {
  it.live("is prepared by `migrate`, served by `serve` until a signal, and not shared with another command", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      yield* Effect.promise(() => PgliteDump.unpack(inject("pgliteDump"), join(directory, "data", "database")))
      const migrated = yield* run(directory, {}, "migrate")
      assert.deepInclude(migrated, { code: 0, errors: "" })
      assert.match(migrated.output, /^The schema is up to date: accounts, .*webhooks/)

      const data = join(directory, "data")
      const env = { ...compileCache, KINORA_DATA_DIR: data, KINORA_PORT: "0", KINORA_LOG_LEVEL: "warn" }
      const server = spawn(process.execPath, [main, "serve", "--json", "--workers", "1"], { cwd: directory, env })
      yield* Effect.addFinalizer(() => Effect.sync(() => server.kill("SIGKILL")))
      const [line] = yield* Effect.promise(() => once(server.stdout, "data"))
      const { api_key, base_url } = yield* Schema.decodeUnknownEffect(Ready)(String(line))
      const account = yield* Effect.promise(() =>
        fetch(`${base_url}/v1/account`, { headers: { authorization: `Bearer ${api_key}` } })
      )
      assert.strictEqual(account.status, 200)

      const settings = { KINORA_URL: base_url, KINORA_BASE_URL: base_url, KINORA_WEBHOOK_ALLOW_PRIVATE: "true" }
      const diagnosed = yield* run(directory, settings, "doctor", "--webhook-url", `${base_url}/hook`)
      assert.deepInclude(diagnosed, { code: 0, errors: "" })
      for (
        const line of [
          /^✔ service .* responds/m,
          /^✔ base URL /m,
          /^✔ readiness /m,
          /^✔ files .* is writable$/m,
          /^✔ webhooks .*\/hook responds with 404 to an empty request$/m,
          /^✔ signing keys .*\(8 requests\)$/m,
          /^- long polls .* has no proxy$/m
        ]
      ) {
        assert.match(diagnosed.output, line)
      }
      const foreign = { ...settings, KINORA_URL_SIGNING_KEYS: "the-signing-key-of-another-service" }
      const refused = yield* run(directory, foreign, "doctor", "--webhook-url", "http://127.0.0.1:1/hook")
      assert.strictEqual(refused.code, 1)
      assert.match(refused.output, /^✘ webhooks .* is not reached: connect\n/m)
      assert.match(refused.output, /^✘ signing keys .*\n +→ Set KINORA_URL_SIGNING_KEYS/m)

      const second = yield* run(directory, {}, "migrate")
      assert.strictEqual(second.code, 1)
      assert.match(second.errors, /The data directory .* is in use by another process/)

      const ended = once(server, "close")
      server.kill("SIGTERM")
      assert.deepStrictEqual(yield* Effect.promise(() => ended), [0, null])
    }))

  it.live("is not started if it is a worker without a Postgres", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* run(yield* temporary, {}, "worker")
      assert.strictEqual(code, 1)
      assert.match(errors, /A worker requires the database of a server/)
    }))

  it.live("is diagnosed by `doctor`, which prints the remedy", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      const postgres = { KINORA_DATABASE_URL: yield* TestDatabase.postgresUrl, KINORA_URL: "http://127.0.0.1:1" }
      const before = yield* run(directory, postgres, "doctor")
      assert.strictEqual(before.code, 1)
      assert.match(before.output, /^✔ database .* Postgres 18.* connections in use, 16 for each process$/m)
      assert.match(before.output, /^✘ schema .*\n +→ Run kinora migrate/m)
      assert.match(before.output, /^✘ service .*does not respond\n +→ Start the service/m)
      assert.match(before.output, /^! keys .*\n +→ .*KINORA_URL_SIGNING_KEYS/m)

      assert.strictEqual((yield* run(directory, postgres, "migrate")).code, 0)
      const after = yield* run(directory, postgres, "doctor", "--json")
      assert.deepInclude(JSON.parse(after.output), { healthy: false })
      assert.deepInclude(JSON.parse(after.output).findings, { check: "schema", status: "ok", detail: "up to date" })
    }))

  it.live("has settings that `config` checks and shows without secrets", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      yield* Effect.promise(() => writeFile(join(directory, "kinora.config.yaml"), "port: 4800\nmodels: 7\n"))
      const settings = { KINORA_DATABASE_URL: "postgres://someone:pass-word@127.0.0.1:1/kinora" }
      const shown = yield* run(directory, settings, "config", "show")
      assert.match(shown.output, /^KINORA_PORT +4800 +.*kinora\.config\.yaml: port$/m)
      assert.match(shown.output, /^KINORA_DATABASE_URL +\(secret\) +KINORA_DATABASE_URL$/m)
      assert.match(shown.output, /^KINORA_WORKERS +4 +default$/m)
      assert.notInclude(shown.output, "pass-word")

      const schema = yield* run(directory, {}, "config", "schema")
      assert.deepInclude(JSON.parse(schema.output), { title: "Kinora configuration", additionalProperties: false })

      const checked = yield* run(directory, settings, "config", "check")
      assert.strictEqual(checked.code, 1)
      assert.match(checked.errors, /models/)
      yield* Effect.promise(() => writeFile(join(directory, "kinora.config.yaml"), "port: 4800\n"))
      assert.deepStrictEqual(yield* run(directory, settings, "config", "check", "--json"), {
        code: 0,
        output: JSON.stringify({ valid: true }, undefined, 2),
        errors: ""
      })
    }))
})
