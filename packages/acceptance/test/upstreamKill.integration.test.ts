/**
 * Workers that are killed or stopped while their jobs run on an upstream: one whose requests have an idempotency key
 * (`kinora`), and one whose requests have none (`replicate`). No job is paid twice there, and every job ends once.
 *
 * The upstream withholds responses, and the drill holds locks in the database, so that each job is at a known moment. The
 * server runs throughout. Leases are short.
 */
import { assert, it } from "@effect/vitest"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect, Fiber, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { readdir, utimes } from "node:fs/promises"
import { join } from "node:path"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Receiver from "../src/Receiver.ts"
import * as Receivers from "../src/Receivers.ts"
import * as Site from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"
import * as HeldUpstream from "./heldUpstream.ts"
import { stopSound } from "./stopSound.ts"

const price = 3
const protocols = ["kinora", "replicate"] as const
type Protocol = (typeof protocols)[number]

it.live(
  "a worker that is killed or stopped at any moment of a job leaves one paid job upstream, and one final status",
  () =>
    Effect.gen(function*() {
      const drill = yield* start
      const beforeSubmit = yield* killBeforeSubmit(drill)
      const worker = yield* drill.startWorker
      // They hold slots of the account, and the later jobs need all of them.
      yield* Effect.forEach(beforeSubmit, drill.awaitEnd, { concurrency: "unbounded" })
      const later = yield* killAtEveryOtherMoment(drill, worker)
      const heir = yield* drill.startWorker
      const ended = yield* Effect.forEach([...beforeSubmit, ...later], drill.awaitEnd, { concurrency: "unbounded" })

      assertEnds(drill.upstream, ended, "replicate submit")
      yield* stopWithJobs(drill, heir)
      yield* assertConsistent(drill)
    }),
  { timeout: 300_000 }
)

// -----------------------------------------------------------------------------
// the drill
// -----------------------------------------------------------------------------

/** A red picture of 16 by 16 pixels. */
const picture = Result.getOrThrow(Base64.decode(
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
))

const adminToken = "the-operator-of-workers-that-are-killed-at-every-moment"

const configurationOf = ({ kinora, replicate }: HeldUpstream.HeldUpstream) => ({
  models: [
    { ...Drill.model({ id: "kinora", credits: price }), driver: { name: "held-kinora", options: { model: "inner" } } },
    {
      ...Drill.model({ id: "replicate", credits: price }),
      driver: { name: "held-replicate", options: { model: "owner/name" } }
    }
  ],
  drivers: {
    "held-kinora": {
      module: "@kinora/generator-http/Kinora",
      options: { base_url: kinora, api_key: "the-key-of-the-upstream" }
    },
    "held-replicate": {
      module: "@kinora/generator-http/Replicate",
      options: { base_url: replicate, api_key: "the-key-of-the-upstream", private: true }
    }
  }
})

/** Starts the upstream, a receiver of webhooks and a server without workers. */
const start = Effect.gen(function*() {
  const upstream = yield* HeldUpstream.make(picture)
  const databaseUrl = yield* TestDatabase.postgresUrl
  const site = yield* Site.make({ databaseUrl, ...configurationOf(upstream) })
  const receivers = yield* Receivers.make()
  const receiver = yield* Effect.acquireRelease(
    Effect.promise(() => receivers.start()),
    (receiver) => Effect.promise(() => receiver[Symbol.asyncDispose]())
  )
  const server = yield* Program.startServer({
    ...site.environment,
    ...receivers.environment,
    KINORA_ADMIN_TOKEN: adminToken,
    KINORA_WORKERS: "0"
  })
  const account = yield* Books.use(site, Books.openAccount({ credits: 1_000, tier: "business" }))
  const inbox = receiver.inbox()
  inbox.trust([yield* register(server, account, inbox)])
  const client = Client.make(server.baseUrl, account.key)
  const locks = yield* DatabaseLocks.connect(databaseUrl)
  const created: Array<CreatedJob> = []

  return {
    upstream,
    locks,
    client,
    site,
    /** Starts a worker. Another one takes over its jobs within 5 seconds of a kill. */
    startWorker: Program.startWorker({
      ...site.environment,
      KINORA_WORKERS: "16",
      KINORA_JOB_LEASE_SECONDS: "3",
      KINORA_JOB_GRACE_SECONDS: "5",
      // A send of a killed worker is repeated after 30 seconds.
      KINORA_WEBHOOK_SENDS: "0"
    }),
    /** Creates a job. Its prompt has the protocol, and what happens to the job. */
    create: Effect.fnUntraced(function*(protocol: Protocol, what: string) {
      const prompt = promptOf(protocol, what)
      const { id } = yield* client.createJob({ model: protocol, prompt })
      const job: CreatedJob = { id, prompt }
      created.push(job)
      return job
    }),
    /** Returns the job once it has ended. */
    awaitEnd: ({ id, prompt }: CreatedJob) => Effect.map(client.awaitEnd(id), (job) => ({ ...job, prompt })),
    /** All jobs. */
    created,
    inbox,
    server
  }
})

interface CreatedJob {
  readonly id: string
  readonly prompt: string
}

type TheDrill = Effect.Success<typeof start>

const promptOf = (protocol: Protocol, what: string) => `${protocol} ${what}`

/** Registers the inbox as an endpoint of the account and returns the secret. */
const register = Effect.fnUntraced(
  function*({ baseUrl }: Program.Server, { id }: Books.TestAccount, { url }: Receiver.Inbox) {
    const { bytes, status } = yield* Client.send(`${baseUrl}/admin/v1/accounts/${id}/webhook-endpoints`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify({ url })
    })
    assert.strictEqual(status, 201)
    return (yield* Schema.decodeEffect(Issued)(new TextDecoder().decode(bytes))).secret
  }
)

const Issued = Schema.fromJsonString(Schema.Struct({ secret: Schema.String }))

/** Kills a worker that has claimed jobs and waits in its first statement after the claim. */
const killBeforeSubmit = Effect.fnUntraced(function*({ create, locks, startWorker, upstream }: TheDrill) {
  const jobs = yield* Effect.forEach(protocols, (protocol) => create(protocol, "before submit"))
  const claimed = Effect.map(
    locks.sql(`SELECT FROM scheduler_job JOIN generation_job USING (id)
      WHERE state = 'running' AND epoch = 1 AND prompt LIKE '% before submit'`),
    ({ length }) => length
  )
  const killOne = Effect.gen(function*() {
    const unlockRows = yield* locks.lock("SELECT FROM generation_job FOR UPDATE")
    const victim = yield* startWorker
    // The claim waits for the rows, and the lock of the table for the claim. Later statements wait for the table.
    yield* locks.awaitWaiting(1)
    const locking = yield* Effect.forkChild(locks.lock("LOCK TABLE generation_job IN ACCESS EXCLUSIVE MODE"))
    yield* locks.awaitWaiting(2)
    yield* unlockRows
    const unlockTable = yield* Fiber.join(locking)
    yield* victim.kill
    yield* unlockTable
    return yield* claimed
  })
  // A claim waits for a lock for 300 ms and is then rolled back. If it was too early, the next worker is killed.
  yield* Effect.repeat(killOne, { until: (count) => count === jobs.length })
  for (const { prompt } of jobs) assert.strictEqual(upstream.created(prompt), 0, prompt)
  return jobs
})

/** Kills a worker whose jobs are in a submit, in a poll, in a download, and between storing the result and the end. */
const killAtEveryOtherMoment = Effect.fnUntraced(
  function*({ create, locks, site, upstream }: TheDrill, victim: Program.Program) {
    const held = yield* Effect.forEach(protocols, (protocol) =>
      Effect.gen(function*() {
        const moments = (["submit", "poll", "result"] as const).map((moment) =>
          upstream.hold(promptOf(protocol, moment), moment)
        )
        const beforeEnd = upstream.hold(promptOf(protocol, "end"), "poll")
        const jobs = yield* Effect.forEach(["submit", "poll", "result", "end"], (what) => create(protocol, what))
        return { moments: [...moments, beforeEnd], beforeEnd, jobs }
      }))
    for (const { reached } of held.flatMap(({ moments }) => moments)) yield* reached
    // Jobs that end wait for their lane.
    const unlock = yield* locks.lock("SELECT FROM scheduler_lane FOR UPDATE")
    for (const { beforeEnd } of held) yield* beforeEnd.release
    yield* locks.awaitWaiting(1)
    // Downloads have created their files.
    yield* Effect.repeat(partialsOf(site), { until: ({ length }) => length === protocols.length })
    // Besides those of the jobs that have ended. A thumbnail is the last file of a job.
    yield* Effect.repeat(Site.files(site), {
      until: (files) => files.filter((name) => name.endsWith("thumb")).length === 2 * protocols.length
    })
    yield* victim.kill
    yield* unlock
    return held.flatMap(({ jobs }) => jobs)
  }
)

/**
 * Asserts that each job was created once upstream, and that it completed. The job with the lost response failed and was
 * refunded: a second submit would be paid again, and the outcome of the first one is unknown.
 */
const assertEnds = (
  upstream: HeldUpstream.HeldUpstream,
  ended: ReadonlyArray<Client.Job & CreatedJob>,
  withLostResponse: string
) => {
  for (const { error, prompt, refunded, status } of ended) {
    const wanted = prompt === withLostResponse
      ? { status: "failed", code: "upstream_error", refunded: true }
      : { status: "completed", code: undefined, refunded: false }
    assert.deepStrictEqual({ status, code: error?.code, refunded }, wanted, prompt)
    assert.strictEqual(upstream.created(prompt), 1, prompt)
  }
}

/** Stops a worker whose jobs are in a submit, in polls and in a download. It finishes one job and releases the others. */
const stopWithJobs = Effect.fnUntraced(
  function*({ awaitEnd, client, create, startWorker, upstream }: TheDrill, worker: Program.Program) {
    const wishes = [
      ["kinora", "stop in submit", "submit"],
      ["kinora", "stop in poll", "poll"],
      ["kinora", "stop and finish", "poll"],
      ["replicate", "stop in submit", "submit"],
      ["replicate", "stop in poll", "poll"],
      ["replicate", "stop in result", "result"]
    ] as const
    const held = wishes.map(([protocol, what, moment]) => upstream.hold(promptOf(protocol, what), moment))
    const jobs = yield* Effect.forEach(wishes, ([protocol, what]) => create(protocol, what))
    for (const { reached } of held) yield* reached

    const stopping = yield* Effect.forkChild(stopSound(worker), { startImmediately: true })
    const finished = wishes.findIndex(([, what]) => what === "stop and finish")
    yield* held[finished]?.release ?? Effect.void
    const [early] = yield* Effect.forEach(jobs.slice(finished, finished + 1), awaitEnd)
    assert.strictEqual(early?.status, "completed")
    yield* Fiber.join(stopping)
    for (const [index, { id, prompt }] of jobs.entries()) {
      const status = index === finished ? "completed" : "processing"
      assert.strictEqual((yield* client.get(id)).status, status, prompt)
    }

    const heir = yield* startWorker
    assertEnds(
      upstream,
      yield* Effect.forEach(jobs, awaitEnd, { concurrency: "unbounded" }),
      "replicate stop in submit"
    )
    yield* stopSound(heir)
  }
)

/** Stops the server and verifies the ledger, the files and the webhooks of all jobs. */
const assertConsistent = Effect.fnUntraced(
  function*({ client, created, inbox, locks, server, site }: TheDrill) {
    const ended = yield* Effect.forEach(created, ({ id }) => client.get(id))
    const wanted = ended.flatMap(({ id, status }) => [`${id} generation.started`, `${id} generation.${status}`])
    const arrivals = yield* Effect.promise(() => inbox.until(wanted.length))
    yield* stopSound(server)
    assert.deepStrictEqual(arrivals.map(nameOf).toSorted(), wanted.toSorted())

    // Partial files are removed a day later.
    const partials = yield* partialsOf(site)
    assert.lengthOf(partials, protocols.length)
    for (const file of partials) yield* Effect.promise(() => utimes(file, 0, 0))
    const { problems, totals } = yield* Books.use(site, Books.verify)
    const completed = ended.filter(({ status }) => status === "completed").length
    assert.deepStrictEqual([problems, totals.consumed], [[], completed * price])
    assert.deepStrictEqual(yield* partialsOf(site), [])

    const recorded = yield* locks.sql(`
      SELECT replace(output -> file ->> 'key', '/', '~') AS name
      FROM generation_job, unnest(ARRAY['content', 'preview', 'thumb', 'poster']) AS file
      WHERE output -> file ->> 'key' IS NOT NULL
    `)
    const names = recorded.map((row) => String(Object.values(row)[0]))
    assert.isAtLeast(names.length, completed)
    assert.deepStrictEqual((yield* Site.files(site)).toSorted(), names.toSorted())
  }
)

/** Files of puts that have not ended. */
const partialsOf = ({ dataDirectory }: Site.Site) =>
  Effect.promise(async () => {
    const directory = join(dataDirectory, "files", "partial")
    return (await readdir(directory)).map((name) => join(directory, name))
  })

const Body = Schema.Struct({
  type: Schema.String,
  data: Schema.Struct({ generation: Schema.Struct({ id: Schema.String }) })
})

/** The job and the event of a webhook. */
const nameOf = (arrival: Receiver.Arrival): string => {
  const { data, type } = Schema.decodeUnknownSync(Body)(Receiver.jsonOf(arrival))
  return `${data.generation.id} ${type}`
}
