/** A server whose disk fills up: that of the results, that of Postgres, or one for everything. */
import { assert, it } from "@effect/vitest"
import * as EmbeddedPostgres from "@kinora/testkit/EmbeddedPostgres"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import * as SmallDisk from "@kinora/testkit/SmallDisk"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect, Schedule } from "effect"
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import { makeSite } from "./sites.ts"

const model = Drill.model({ id: "drill", bytes: 64 * 1024 })
const accountCount = 6

it.live(
  "keeps jobs whose results do not fit on the disk, rejects uploads, and completes the jobs when there is room",
  (context) =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", [model])
      const files = join(site.dataDirectory, "files")
      const disk = yield* SmallDisk.mount(files, 8)
      if (disk === undefined) return yield* SmallDisk.missing(context)
      const drill = yield* makeDrill(site)
      const created = yield* drill.createJobs
      // A job that cannot store its result frees the room of what it has written so far.
      yield* drill.completes(created)
      const { output } = yield* created[0]!.client.awaitEnd(created[0]!.id)
      const image = (yield* Client.send(output?.url ?? "")).bytes

      yield* disk.fill
      assert.deepStrictEqual(yield* drill.notReady, ["storage"])
      assert.strictEqual(yield* drill.upload(image), 503)
      const jobs = yield* drill.createJobs
      assert.lengthOf(jobs, accountCount)
      // Results before are still served.
      assert.strictEqual((yield* Client.send(output?.url ?? "")).status, 200)
      // Longer than a job tries to store its result before it is returned to the queue.
      for (const { client, id } of jobs) assert.include(["queued", "processing"], (yield* client.get(id, 8)).status)
      assert.strictEqual(yield* drill.upload(image), 503)

      yield* disk.free
      yield* drill.completes(jobs)
      assert.deepStrictEqual(yield* drill.notReady, [])
      assert.strictEqual(yield* drill.upload(image), 201)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(files, "partial"))), [])
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

it.live(
  "rejects jobs while the disk of Postgres is full, charges none of them, and continues when there is room",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* makeDirectory
      const disk = yield* SmallDisk.mount(join(directory, "disk"), 160)
      if (disk === undefined) return yield* SmallDisk.missing(context)
      const postgres = yield* Effect.acquireRelease(
        Effect.promise(() => EmbeddedPostgres.start(join(directory, "disk"), { fsync: "off" })),
        (server) => Effect.promise(() => server.stop())
      )
      const drill = yield* makeDrill(yield* Site.make({ databaseUrl: postgres.url, models: [model] }))

      yield* disk.fill
      assert.deepStrictEqual(yield* drill.notReady, ["database"])
      // Pages that exist already have room for a few jobs.
      const jobs = yield* drill.createUntilUnavailable
      assert.deepStrictEqual(yield* drill.notReady, ["database"])

      yield* disk.free
      yield* drill.completes(jobs)
      assert.deepStrictEqual(yield* drill.notReady, [])
      yield* drill.completes(yield* drill.createJobs)
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

it.live(
  "rejects jobs while the disk of the embedded database is full, charges none of them, and continues when there is room",
  (context) =>
    Effect.gen(function*() {
      const site = yield* Site.make({ databaseUrl: "", models: [model] })
      const disk = yield* SmallDisk.mount(site.dataDirectory, 160)
      if (disk === undefined) return yield* SmallDisk.missing(context)
      yield* TestDatabase.unpackPglite(join(site.dataDirectory, "database"))
      const drill = yield* makeDrill(site)

      yield* disk.fill
      assert.deepStrictEqual(yield* drill.notReady, ["database", "storage"])
      const jobs = yield* drill.createUntilUnavailable

      yield* disk.free
      yield* drill.completes(jobs)
      assert.deepStrictEqual(yield* drill.notReady, [])
      yield* drill.completes(yield* drill.createJobs)
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Starts a server, and returns what a drill does with it. Jobs that it creates are counted for `booksAreSound`. */
const makeDrill = Effect.fnUntraced(function*(site: Site.Site) {
  const accounts = yield* Books.use(site, Books.openAccounts(accountCount, { credits: 1000 }))
  const server = yield* Program.startServer(site.environment)
  const clients = accounts.map(({ key }) => Client.make(server.baseUrl, key))
  let sent = 0
  let accepted = 0

  /** Creates a job per account, and returns those that were accepted. The others must have received 503. */
  const createJobs = Effect.forEach(
    clients,
    (client) =>
      Effect.map(client.create({ model: model.id, prompt: `${sent++}`.padEnd(900, " lake") }), (answer) => {
        if (answer.status === 503) assert.strictEqual(Client.errorCodeOf(answer), "unavailable")
        else assert.strictEqual(answer.status, 201, new TextDecoder().decode(answer.bytes))
        if (answer.status === 503) return []
        accepted++
        return [{ client, id: Client.jobOf(answer).id }]
      }),
    { concurrency: "unbounded" }
  ).pipe(Effect.map((jobs) => jobs.flat()))

  const notReady = Effect.map(Client.send(`${server.baseUrl}/readyz`), ({ bytes, status }) => {
    const body = JSON.parse(new TextDecoder().decode(bytes))
    assert.strictEqual(status, body.status === "ready" ? 200 : 503)
    return body.status === "ready" ? [] : body.error.details.not_ready
  })

  return {
    createJobs,

    /** Creates jobs until none is accepted, and returns the accepted ones. */
    createUntilUnavailable: Effect.gen(function*() {
      const jobs: Array<Effect.Success<typeof createJobs>[number]> = []
      const more = Effect.tap(createJobs, (created) => Effect.sync(() => void jobs.push(...created)))
      yield* Effect.repeat(more, {
        until: (created) => created.length === 0,
        schedule: Schedule.spaced("100 millis")
      })
      return jobs
    }),

    /** Returns the parts that are not ready. */
    notReady,

    /** Uploads an image, and returns the status. */
    upload: (image: Uint8Array) =>
      Effect.map(
        clients[0]!.request("/v1/uploads", {
          method: "POST",
          headers: { "content-type": "image/png" },
          body: Buffer.from(image)
        }),
        ({ status }) => status
      ),

    /** Waits until the jobs have ended, all of them completed. */
    completes: (jobs: Effect.Success<typeof createJobs>) =>
      Effect.forEach(
        jobs,
        ({ client, id }) =>
          Effect.map(client.awaitEnd(id), (job) => assert.strictEqual(job.status, "completed", JSON.stringify(job))),
        { concurrency: "unbounded", discard: true }
      ),

    /** Every accepted job was charged once, and nothing else. Stops the server, which locks an embedded database. */
    booksAreSound: Effect.gen(function*() {
      assert.strictEqual((yield* server.stop).code, 0)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], accepted])
    })
  }
})

const makeDirectory = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await mkdtemp(join(MemoryDirectory.parent(), "kinora-full-"))
    // A server started by root runs as another user.
    await chmod(directory, 0o755)
    return directory
  }),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)
