/** Starts the solutions of each task, on an empty database of their own. */
import { createApiKeys } from "@kinora/api-keys/promise"
import * as KinoraShop from "@kinora/example-billing/app"
import { openPool } from "@kinora/example-billing/database"
import * as KinoraHotel from "@kinora/example-limits/app"
import { openDatabase as openBookings } from "@kinora/example-limits/database"
import * as KinoraStations from "@kinora/example-stations/app"
import { openDatabase as openStations } from "@kinora/example-stations/database"
import { createIdempotency } from "@kinora/idempotency/promise"
import { createLedger } from "@kinora/ledger/promise"
import { createLimits } from "@kinora/rate-limit/promise"
import { PgProgram } from "@kinora/testkit"
import type { Express } from "express"
import type { FastifyInstance } from "fastify"
import type { Hono } from "hono"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { Pool, PoolClient } from "pg"
import * as BetterAuth from "../src/betterAuth.ts"
import * as GraphileWorker from "../src/graphileWorker.ts"
import * as KinoraScheduler from "../src/kinoraScheduler.ts"
import type { OpenMails } from "../src/Mails.ts"
import * as Pgledger from "../src/pgledger.ts"
import * as RateLimiterFlexible from "../src/rateLimiterFlexible.ts"

/** Sends a request to a process of a solution. */
type Send = (
  path: string,
  init: { method: string; headers: Record<string, string>; body?: string }
) => Promise<Response>

/** Something that runs until `close`. */
interface Running {
  readonly pool: Pool
  readonly close: () => Promise<void>
}

/** A print shop. */
export interface Shop extends Running {
  readonly send: Send
  /** Charges an account without a print, in a transaction of its own. */
  readonly charge: (account: string, reference: string, credits: number) => Promise<unknown>
  /** SQL query for the ids of the prints that were charged. */
  readonly charged: string
}

/** A hotel with two instances. */
export interface Hotel extends Running {
  readonly processes: ReadonlyArray<Send>
  /** Returns how many requests of an account were counted. */
  readonly counted: (account: string) => Promise<number>
}

/** A weather service with two instances. */
export interface Stations extends Running {
  readonly processes: ReadonlyArray<Send>
  /** SQL query for the owners of keys, and the whole rows as text. */
  readonly keys: string
}

/** A program that sends mails. */
export interface MailProgram extends Running {
  readonly program: PgProgram.PgProgram
  readonly open: OpenMails
  /** SQL query for the jobs that have not ended. */
  readonly jobs: string
  /** SQL command that moves the time of the last digest to 150 minutes before this hour. */
  readonly miss: string
  /** SQL query that returns a row if the digest of this hour was added. */
  readonly isCaughtUp: string
}

/** Solutions by their name. */
type Solutions<A> = Readonly<Record<string, () => Promise<A>>>

export const shops: Solutions<Shop> = {
  "@kinora/ledger": async () => {
    const { closers, program } = await start()
    const pool = await closers.pool(openPool(program.url))
    const ledger = await createLedger({ pool })
    closers.add(() => ledger.close())
    return {
      pool,
      send: await closers.listen(KinoraShop.makeApp(pool, ledger)),
      charge: (account, reference, credits) => ledger.charge({ account, reference, credits }),
      charged: "SELECT reference AS print FROM ledger_transaction WHERE kind = 'charge'",
      close: closers.close
    }
  },
  "pgledger": async () => {
    const { closers, program } = await start()
    const pool = await closers.pool(openPool(program.url))
    await Pgledger.createLedger(pool)
    return {
      pool,
      send: await closers.listen(Pgledger.makeApp(pool)),
      charge: (account, reference, credits) =>
        pool.query(Pgledger.transfer, [account, "shop", credits, { print: reference }]),
      charged: "SELECT metadata->>'print' AS print FROM pgledger_transfers_view WHERE metadata ? 'print'",
      close: closers.close
    }
  }
}

export const hotels: Solutions<Hotel> = {
  "@kinora/rate-limit": async () => {
    const { closers, program } = await start()
    const db = await openBookings(program.url)
    const pool = await closers.pool(db.$client)
    const [limits, idempotency] = [await createLimits({ pool }), await createIdempotency({ pool })]
    closers.add(() => limits.close())
    closers.add(() => idempotency.close())
    const apps = [1, 2].map(() => KinoraHotel.makeApp({ db, limits, idempotency }))
    const policy = { limit: 1_000, algorithm: "slidingWindow" } as const
    return {
      pool,
      processes: apps.map(sendOfFastify),
      counted: async (account) => {
        const { remaining } = await limits.peek({ key: `requests/key/${account}`, ...policy })
        return policy.limit - remaining
      },
      close: closers.close
    }
  },
  "rate-limiter-flexible": async () => {
    const { closers, program } = await start()
    const db = await openBookings(program.url)
    const pool = await closers.pool(db.$client)
    const limiters = [await RateLimiterFlexible.createLimiter(pool), await RateLimiterFlexible.createLimiter(pool)]
    return {
      pool,
      processes: limiters.map((limiter) => sendOfFastify(RateLimiterFlexible.makeApp(db, limiter))),
      counted: async (account) => (await limiters[0]!.get(account))?.consumedPoints ?? 0,
      close: closers.close
    }
  }
}

export const weatherServices: Solutions<Stations> = {
  "@kinora/api-keys": async () => {
    const { closers, program } = await start()
    const { pool, prisma } = await openStations(program.url)
    await closers.pool(pool)
    closers.add(() => prisma.$disconnect())
    const options = { pool, prefix: "wx_", revocationWithin: "1 hour" } as const
    const services = [await createApiKeys(options), await createApiKeys(options)]
    for (const keys of services) closers.add(() => keys.close())
    return {
      pool,
      processes: services.map((keys) => sendOfHono(KinoraStations.makeApp({ prisma, keys }))),
      keys: "SELECT owner, key::text AS text FROM api_keys_key AS key",
      close: closers.close
    }
  },
  "Better Auth": () => openBetterAuth((auth) => auth),
  "Better Auth per transaction": () => openBetterAuth((_, tx) => BetterAuth.authOn(BetterAuth.connectionOf(tx)))
}

export const mailPrograms: Solutions<MailProgram> = {
  "@kinora/scheduler": async () => {
    const { closers, program } = await start()
    return {
      pool: program.pool,
      program,
      open: KinoraScheduler.openMails,
      jobs: "SELECT id FROM scheduler_job UNION ALL SELECT id FROM scheduler_delayed",
      miss: `UPDATE scheduler_schedule SET handled_until = ${missed}`,
      isCaughtUp: "SELECT FROM scheduler_schedule WHERE handled_until >= date_trunc('hour', now())",
      close: closers.close
    }
  },
  "graphile-worker": async () => {
    const { closers, program } = await start()
    return {
      pool: program.pool,
      program,
      open: GraphileWorker.openMails,
      jobs: "SELECT FROM graphile_worker.jobs",
      miss: `UPDATE graphile_worker._private_known_crontabs SET known_since = ${missed}, last_execution = null`,
      isCaughtUp:
        "SELECT FROM graphile_worker._private_known_crontabs WHERE last_execution >= date_trunc('hour', now())",
      close: closers.close
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const missed = "date_trunc('hour', now()) - interval '150 minutes'"

/** Opens an empty database. */
const start = async () => {
  const program = await PgProgram.open()
  const pending: Array<() => unknown> = [() => program.close()]
  const add = (close: () => unknown) => {
    pending.push(close)
  }
  const closers = {
    add,
    /** Closes everything that was added, last first. */
    close: async () => {
      for (let close = pending.pop(); close !== undefined; close = pending.pop()) await close()
    },
    pool: async (opened: Pool | Promise<Pool>) => {
      const pool = await opened
      add(() => pool.end())
      return pool
    },
    /** Starts an app of Express. */
    listen: async (app: Express): Promise<Send> => {
      // Tests cause errors, which Express would print.
      const server = app.set("env", "test").listen(0, "127.0.0.1")
      await once(server, "listening")
      add(() => {
        server.closeAllConnections()
        server.close()
      })
      return (path, init) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, init)
    }
  }
  return { program, closers }
}

const sendOfFastify = (app: FastifyInstance): Send => async (url, { body, headers, method }) => {
  const response = await app.inject({ url, method: method as "GET", headers, ...body !== undefined && { body } })
  return new Response(response.body, { status: response.statusCode })
}

const sendOfHono = (app: Hono): Send => async (path, init) => app.request(path, init)

const openBetterAuth = async (
  authIn: (auth: BetterAuth.Auth, tx: PoolClient) => BetterAuth.Auth
): Promise<Stations> => {
  const { closers, program } = await start()
  const { pool, prisma } = await openStations(program.url)
  await closers.pool(pool)
  closers.add(() => prisma.$disconnect())
  const auths = [BetterAuth.authOn(pool), BetterAuth.authOn(pool)]
  await BetterAuth.migrate(auths[0]!)
  return {
    pool,
    processes: auths.map((auth) => sendOfHono(BetterAuth.makeApp({ pool, auth, authIn: (tx) => authIn(auth, tx) }))),
    keys: `SELECT "referenceId" AS owner, key::text AS text FROM apikey AS key`,
    close: closers.close
  }
}
