/** Services that blocks of READMEs use: databases, Redis, Stripe and a server of Kinora. */
import { Effect, Exit, Scope } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "../packages/testkit/src/EmbeddedPostgres.ts"
import * as TestRedis from "../packages/testkit/src/TestRedis.ts"
import * as StripeServer from "../packages/testkit/src/upstreams/StripeServer.ts"
import * as packedServer from "./packedServer.ts"
import type { ReadmeBlock } from "./readmeBlocks.ts"

/** Services that run until they are closed. */
export interface Services {
  /** Returns the environment of one run of a block, with an empty database of Postgres and one of Redis if it reads their URLs. */
  readonly environmentFor: (block: ReadmeBlock) => Promise<Readonly<Record<string, string>>>
  readonly close: () => Promise<void>
}

/** Returns why nothing can run a block; `undefined` if it can run. */
export const missingFor = ({ variables }: ReadmeBlock): string | undefined =>
  variables.includes("REDIS_URL") && !TestRedis.isInstalled ? "needs redis-server" : undefined

/**
 * Starts what the blocks read from their environment. The server is that of the project in `directory`. Rejects if a block
 * reads a variable that no service provides.
 */
export const open = async (blocks: ReadonlyArray<ReadmeBlock>, directory: string): Promise<Services> => {
  const scope = Effect.runSync(Scope.make())
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const read = new Set(blocks.flatMap(({ variables }) => variables))
  const used = providers.filter(({ names }) => names.some((name) => read.has(name)))
  const provided = new Set(used.flatMap(({ names }) => names))
  const unknown = [...read].filter((name) => !provided.has(name))
  if (unknown.length > 0) {
    throw new Error(`Blocks read ${unknown.join(", ")}, which tools/packServices.ts does not provide`)
  }
  try {
    const started: Array<{ readonly names: ReadonlyArray<string>; readonly next: Next }> = []
    for (const { names, start } of used) {
      started.push({ names, next: await Effect.runPromise(Scope.provide(start(directory), scope)) })
    }
    const environmentFor = async ({ variables }: ReadmeBlock) => {
      const needed = started.filter(({ names }) => names.some((name) => variables.includes(name)))
      return Object.assign({}, ...await Promise.all(needed.map(({ next }) => next())))
    }
    return { environmentFor, close }
  } catch (error) {
    await close()
    throw error
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the variables of the next run. */
type Next = () => Promise<Readonly<Record<string, string>>>

interface Provider {
  readonly names: ReadonlyArray<string>
  readonly start: (directory: string) => Effect.Effect<Next, never, Scope.Scope>
}

/** Makes what ends with the scope. */
const scoped = <A>(acquire: () => Promise<A>, release: (resource: A) => Promise<unknown>) =>
  Effect.acquireRelease(Effect.promise(acquire), (resource) => Effect.promise(() => release(resource)))

const directoryFor = (service: string) =>
  scoped(
    async () => {
      const directory = await mkdtemp(join(tmpdir(), `kinora-pack-${service}-`))
      // A Postgres that root starts runs as another user.
      await chmod(directory, 0o755)
      return directory
    },
    (directory) => rm(directory, { recursive: true, force: true })
  )

const postgres: Provider = {
  names: ["DATABASE_URL"],
  start: Effect.fnUntraced(function*() {
    const data = yield* directoryFor("postgres")
    const server = yield* scoped(
      () => EmbeddedPostgres.start(data, { fsync: "off", synchronous_commit: "off" }),
      ({ stop }) => stop()
    )
    let count = 0
    return async () => ({ DATABASE_URL: await server.createDatabase(`block_${count++}`) })
  })
}

/** A folder of its own for each run. */
const files: Provider = {
  names: ["FILES"],
  start: Effect.fnUntraced(function*() {
    const directory = yield* directoryFor("files")
    return async () => ({ FILES: await mkdtemp(join(directory, "files-")) })
  })
}

const redis: Provider = {
  names: ["REDIS_URL"],
  start: Effect.fnUntraced(function*() {
    const { socket } = yield* TestRedis.start
    let count = 0
    return async () => ({ REDIS_URL: `unix://${socket}?db=${count++}` })
  })
}

const stripe: Provider = {
  names: ["STRIPE_API_BASE", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"],
  start: Effect.fnUntraced(function*() {
    const { origin } = yield* StripeServer.stripeApi()
    const variables = {
      STRIPE_API_BASE: origin,
      STRIPE_SECRET_KEY: StripeServer.secretKey,
      STRIPE_WEBHOOK_SECRET: "whsec_1"
    }
    return async () => variables
  })
}

const server: Provider = {
  names: ["KEY", "URL"],
  start: Effect.fnUntraced(function*(directory) {
    const { apiKey, origin } = yield* scoped(() => packedServer.start(directory), ({ stop }) => stop())
    return async () => ({ KEY: apiKey, URL: origin })
  })
}

const providers: ReadonlyArray<Provider> = [postgres, files, redis, stripe, server]
