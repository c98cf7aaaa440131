/**
 * A job that ends the process of every worker that runs it, while the workers start again each time. It fails after its third
 * attempt, which runs alone, and no other job fails because of it. In a file of its own, because it mostly waits.
 */
import { assert, it } from "@effect/vitest"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect, Fiber, Schedule } from "effect"
import { fileURLToPath } from "node:url"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import { stopSound } from "./stopSound.ts"

const price = 3
const healthy = 8
const poison = "a lake that ends the process"

const configuration = {
  models: [{ ...Drill.model({ id: "drill-poison", credits: price }), driver: { name: "poison", options: {} } }],
  drivers: {
    poison: {
      module: fileURLToPath(new URL("./poisonDriver.ts", import.meta.url)),
      options: { prompt: poison }
    }
  }
}

it.live(
  "a job that ends the processes of its workers fails with worker_lost and is refunded, and the others complete",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const site = yield* Site.make({ databaseUrl, ...configuration })
      const server = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
      const [one, many] = yield* Books.use(
        site,
        Effect.all([
          Books.openAccount({ credits: 100 }),
          // All its jobs can run at the same time.
          Books.openAccount({ credits: 100, tier: "business" })
        ])
      )
      const create = ({ key }: Books.TestAccount, prompt: string) => {
        const client = Client.make(server.baseUrl, key)
        return Effect.map(client.createJob({ model: "drill-poison", prompt }), ({ id }) => client.awaitEnd(id))
      }
      // The first worker claims it first, and four of the others with it.
      const awaitPoisoned = yield* create(one, poison)
      const awaitOthers = yield* Effect.forEach(
        Array.from({ length: healthy }),
        (_, n) => create(many, `lake ${n}`)
      )
      const five = {
        ...site.environment,
        KINORA_WORKERS: "5",
        KINORA_WORKER_RESERVED: "0",
        KINORA_JOB_LEASE_SECONDS: "4"
      }
      const lost: Array<Program.Ended> = []
      const workers = yield* Effect.forEach([1, 2], () => keepRunning(five, lost))

      const { error, refunded, status } = yield* awaitPoisoned
      assert.deepStrictEqual([status, error?.code, refunded], ["failed", "worker_lost", true])
      const others = yield* Effect.all(awaitOthers, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        others.map(({ refunded, status }) => [status, refunded]),
        others.map(() => ["completed", false])
      )

      assert.deepStrictEqual(lost.map(({ signal }) => signal), ["SIGKILL", "SIGKILL", "SIGKILL"])
      const besides = lost.map(({ stderr }) => Number(/\{"beside":(\d+)\}/.exec(stderr)?.[1]))
      assert.isAbove(besides[0] ?? 0, 0)
      assert.strictEqual(besides[2], 0, besides.join())
      for (const worker of workers) yield* worker.stopSound
      yield* stopSound(server)
      const verified = yield* Books.use(
        site,
        Effect.all({
          books: Books.verify,
          one: Books.movementsOf(one.id),
          many: Books.movementsOf(many.id)
        })
      )
      assert.deepStrictEqual(verified.books.problems, [])
      assert.deepStrictEqual(verified.one, { charges: 1, refunds: 1, consumed: 0 })
      assert.deepStrictEqual(verified.many, { charges: healthy, refunds: 0, consumed: healthy * price })
      const { consumed, granted, remaining } = verified.books.totals
      assert.deepStrictEqual([consumed, remaining], [healthy * price, granted - consumed])
    }),
  { timeout: 300_000 }
)

/** Starts a worker, and again whenever its process ends. Adds the ends to `lost`. */
const keepRunning = Effect.fnUntraced(function*(
  environment: Readonly<Record<string, string>>,
  lost: Array<Program.Ended>
) {
  // Does not wait until the worker is ready, since it can end before that.
  let current = yield* Program.start("worker", environment)
  const restart = Effect.gen(function*() {
    lost.push(yield* current.ended)
    current = yield* Program.start("worker", environment)
  })
  const restarting = yield* Effect.forkChild(Effect.forever(restart))
  const isReady = Effect.map(Effect.suspend(() => current.printed), ({ stdout }) => stdout.includes("\n"))
  return {
    /** Stops it once it is ready. */
    stopSound: Effect.gen(function*() {
      yield* Fiber.interrupt(restarting)
      yield* Effect.repeat(isReady, { until: (ready) => ready, schedule: Schedule.spaced("50 millis") })
      yield* stopSound(current, /AttemptsExhausted/)
    })
  }
})
