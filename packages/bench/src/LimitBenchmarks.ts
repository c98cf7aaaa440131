/** Benchmarks of limits per minute. The limits are high enough to admit every hit. */
import { RateLimit } from "@kinora/rate-limit"
import * as PgPool from "@kinora/testkit/PgPool"
import { Effect, Layer } from "effect"
import { RateLimiterPostgres } from "rate-limiter-flexible"
import { attempt, type Benchmark, type Environment, failingWith } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as KinoraServices from "./KinoraServices.ts"

/** All benchmarks of rate limits. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  { keys: 1, callers: 32 },
  { keys: 100, callers: 32 },
  { keys: 100, callers: 256 }
].map(({ callers, keys }) => ({
  name: `limit-${keys}-${callers}`,
  title: `Hits on ${keys === 1 ? "one limit" : `${keys} limits`} per minute, ${callers} callers`,
  compares: "perSecond",
  contestants: (environment) =>
    Effect.all([
      ours(keys, callers, environment),
      peer("rate-limiter-flexible", "LOGGED", keys, callers, environment),
      peer("rate-limiter-flexible, unlogged like ours", "UNLOGGED", keys, callers, environment)
    ])
}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const limit = 1_000_000_000
const table = "hits"

const ours = Effect.fnUntraced(function*(keys: number, callers: number, environment: Environment) {
  const { seconds } = environment
  const database = yield* environment.database
  const services = yield* Layer.build(KinoraServices.layer(database)).pipe(failingWith("Kinora does not start"))
  const rateLimit = yield* Effect.provideContext(RateLimit.RateLimit, services)
  const hit = (n: number) => rateLimit.hit({ key: `key-${n % keys}`, limit, mayWait: true })
  const round = Costs.timed(
    { database },
    environment,
    Callers.ofEffects({ callers, seconds }, hit).pipe(failingWith("A hit failed"))
  )
  return { name: "kinora", round }
})

/** The peer creates its table as `LOGGED`. As `UNLOGGED` its commits do not wait for the disk, as with Kinora. */
const peer = Effect.fnUntraced(function*(
  name: string,
  persistence: "LOGGED" | "UNLOGGED",
  keys: number,
  callers: number,
  environment: Environment
) {
  const { seconds } = environment
  const database = yield* environment.database
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => PgPool.make(database)),
    (pool) => Effect.promise(() => pool.end())
  )
  const limiter = yield* attempt(
    "rate-limiter-flexible does not start",
    () =>
      new Promise<RateLimiterPostgres>((resolve, reject) => {
        const limiter = new RateLimiterPostgres(
          {
            storeClient: pool,
            storeType: "pool",
            points: limit,
            duration: 60,
            tableName: table,
            clearExpiredByTimeout: false
          },
          (error) => error === undefined ? resolve(limiter) : reject(error)
        )
      })
  )
  yield* attempt("The table could not be altered", () => pool.query(`ALTER TABLE ${table} SET ${persistence}`))
  const round = Costs.timed(
    { database },
    environment,
    attempt("A hit failed", () => Callers.ofPromises({ callers, seconds }, (n) => limiter.consume(`key-${n % keys}`)))
  )
  return { name, round }
})
