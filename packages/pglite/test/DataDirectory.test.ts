import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { inject } from "vitest"
import { PgliteClient } from "../src/index.ts"
import * as NewDatabase from "../src/internal/newDatabase.ts"

/** Timeout in milliseconds. Initialising a directory takes a second of an idle core, and tests run in parallel. */
const startsMax = 120_000

const makeDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-pglite-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** Runs `body` on the database in `dataDirectory`, then closes the database. */
const onDatabase = <A, E>(dataDirectory: string, body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(body, PgliteClient.layer({ dataDirectory }))

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))

it.live("keeps committed rows over a restart", () =>
  Effect.gen(function*() {
    const directory = join(yield* makeDirectory, "made/by/it")
    yield* onDatabase(directory, statement("CREATE TABLE kept AS SELECT 7 AS id"))
    assert.deepStrictEqual(yield* onDatabase(directory, statement("SELECT id FROM kept")), [{ id: 7 }])
  }).pipe(Effect.scoped), startsMax)

it.live("keeps every acknowledged row when its process is killed", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const dump = inject("pgliteDump")
    const acknowledged = yield* Effect.promise(() => writeUntilKilled(directory, dump, 100))
    const found = yield* onDatabase(directory, statement("SELECT id FROM acknowledged ORDER BY id"))
    assert.isAtLeast(acknowledged.length, 100)
    // The acknowledgement of one more committed row may be lost.
    assert.deepStrictEqual(found.slice(0, acknowledged.length), acknowledged.map((id) => ({ id })))
    assert.isAtMost(found.length, acknowledged.length + 1)
  }).pipe(Effect.scoped), startsMax)

it.live("unpacks a template, and initialises a database if that is damaged", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const template = join(directory, "template")
    const older = `${template}-0.1.0.tar.zst`
    const create = (name: string) =>
      Effect.promise(async () => {
        await NewDatabase.create(join(directory, name), [template])
        return openToOthers(join(directory, name))
      })
    yield* Effect.promise(() => writeFile(older, ""))
    yield* PgliteClient.writeTemplate(template, Effect.void)
    assert.isFalse(existsSync(older))
    assert.deepStrictEqual(yield* create("one"), [])
    assert.deepStrictEqual(yield* create("another"), [])
    yield* Effect.promise(() => damage(directory))
    yield* create("damaged")
    const [one, another, damaged] = yield* Effect.forEach(
      ["one", "another", "damaged"],
      (name) => onDatabase(join(directory, name), identifier)
    )
    assert.deepStrictEqual(one, another)
    assert.notDeepEqual(damaged, one)
  }).pipe(Effect.scoped), startsMax)

it.live(
  "copies the template of its caller, and starts with an empty database if that is damaged or missing",
  () =>
    Effect.gen(function*() {
      const directory = yield* makeDirectory
      const template = join(directory, "template")
      const rows = statement("SELECT id FROM kept")
      yield* PgliteClient.writeTemplate(
        template,
        Effect.andThen(statement("CREATE TABLE kept (id int)"), statement("INSERT INTO kept VALUES (7)"))
      )
      const create = (name: string, template: string) =>
        PgliteClient.layer({ dataDirectory: join(directory, name), template })
      assert.deepStrictEqual(yield* Effect.provide(rows, create("copy", template)), [{ id: 7 }])
      // Only a new directory is a copy.
      yield* Effect.provide(statement("DELETE FROM kept"), create("copy", template))
      assert.deepStrictEqual(yield* Effect.provide(rows, create("copy", template)), [])
      yield* Effect.promise(() => damage(directory))
      for (const [name, path] of [["damaged", template], ["missing", join(directory, "nothing")]] as const) {
        yield* Effect.flip(Effect.provide(rows, create(name, path)))
        yield* Effect.provide(statement("CREATE TABLE kept (id int)"), create(name, path))
      }
    }).pipe(Effect.scoped),
  startsMax
)

it.live("fails with the error of the preparation, and writes no template", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const written = PgliteClient.writeTemplate(join(directory, "template"), statement("SELECT nothing"))
    assert.strictEqual((yield* Effect.flip(written)).reason._tag, "SqlSyntaxError")
    assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
  }).pipe(Effect.scoped), startsMax)

it.live("creates the database that a killed process has left unfinished", () =>
  Effect.gen(function*() {
    const directory = join(yield* makeDirectory, "database")
    yield* Effect.promise(async () => {
      await mkdir(`${directory}.new`)
      await writeFile(join(`${directory}.new`, "PG_VERSION"), "18")
    })
    assert.deepStrictEqual(yield* onDatabase(directory, statement("SELECT 7 AS id")), [{ id: 7 }])
    assert.isFalse(existsSync(`${directory}.new`))
  }).pipe(Effect.scoped), startsMax)

it.live(
  "leaves an existing directory to PGlite, and accepts a path that ends with a slash",
  () =>
    Effect.gen(function*() {
      const directory = yield* makeDirectory
      yield* Effect.promise(() => NewDatabase.create(directory))
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
      const inside = join(directory, "database/")
      assert.deepStrictEqual(yield* onDatabase(inside, statement("SELECT 7 AS id")), [{ id: 7 }])
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), ["database"])
    }).pipe(Effect.scoped),
  startsMax
)

it.live("fails with a connection error when the directory cannot be opened", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(onDatabase("/dev/null/nowhere", statement("SELECT 1")))
    assert.strictEqual(error.reason._tag, "ConnectionError")
  }))

/** Initialising a database chooses one. */
const identifier = statement("SELECT system_identifier::text AS id FROM pg_control_system()")

/** Cuts off the last byte of the template in a directory. */
const damage = async (directory: string) => {
  const name = (await readdir(directory)).find((name) => name.endsWith(".tar.zst"))
  assert.isDefined(name)
  const bytes = await readFile(join(directory, name))
  await writeFile(join(directory, name), bytes.subarray(0, bytes.length - 1))
}

/** The entries of a directory that other users of the machine can read, write or list. */
const openToOthers = async (directory: string) => {
  const names = [".", ...await readdir(directory, { recursive: true })]
  const modes = await Promise.all(names.map(async (name) => (await lstat(join(directory, name))).mode))
  return names.filter((_, index) => ((modes[index] ?? 0) & 0o077) !== 0)
}

/** Starts a writer on a database from the dump, kills it while it writes, and returns the ids that it printed. */
const writeUntilKilled = async (
  directory: string,
  dump: string,
  rows: number
): Promise<ReadonlyArray<number>> => {
  const script = join(import.meta.dirname, "writer.process.ts")
  const writer = spawn(process.execPath, ["--conditions=@kinora/source", script, directory, dump], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = once(writer, "exit")
  const ids: Array<number> = []
  for await (const line of createInterface({ input: writer.stdout })) {
    ids.push(Number(line))
    if (ids.length === rows) writer.kill("SIGKILL")
  }
  const [, signal] = await ended
  assert.strictEqual(signal, "SIGKILL")
  return ids
}
