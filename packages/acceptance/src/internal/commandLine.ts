/** Options of the commands of this package, and the Postgres that they start. */
// Imports this module only, since the index of `@kinora/testkit` requires a test runner.
import * as EmbeddedPostgres from "@kinora/testkit/EmbeddedPostgres"
import { Data, Effect } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The options are not valid, or the database is unavailable. */
export class InvalidOptions extends Data.TaggedError("InvalidOptions")<{ readonly message: string }> {}

/** Reads options. `parse` throws if they are not valid. */
export const readOptions = <Options>(parse: () => Options): Effect.Effect<Options, InvalidOptions> =>
  Effect.try({
    try: parse,
    catch: (cause) => new InvalidOptions({ message: cause instanceof Error ? cause.message : String(cause) })
  })

/** Reads a whole number from `minimum` to `maximum`. */
export const wholeNumber = (
  name: string,
  text: string,
  minimum: number,
  maximum: number
): Effect.Effect<number, InvalidOptions> =>
  /^\d{1,8}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
    ? Effect.succeed(Number(text))
    : Effect.fail(new InvalidOptions({ message: `--${name} must be a whole number from ${minimum} to ${maximum}` }))

/** Starts a server that stops with the scope, and returns its URL. Its files are not synced. */
export const startPostgres = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>> = {}) {
  const directory = yield* Effect.acquireRelease(
    attempt(async () => {
      const path = await mkdtemp(join(tmpdir(), "kinora-drill-"))
      // A server started by root runs as another user.
      await chmod(path, 0o755)
      return path
    }),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const { url } = yield* Effect.acquireRelease(
    attempt(() => EmbeddedPostgres.start(directory, { fsync: "off", synchronous_commit: "off", ...settings })),
    (server) => Effect.promise(() => server.stop())
  )
  return url
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new InvalidOptions({ message: `Postgres does not start: ${String(cause)}` })
  })
