#!/usr/bin/env node
/** The process of the command `kinora-migrate`. */
import { Effect, Logger } from "effect"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { run } from "./command.ts"

const resolve = createRequire(join(process.cwd(), "package.json")).resolve

/** The output of the command is for other programs. */
const warnings = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const { exitCode, stderr, stdout } = await Effect.runPromise(
  run(process.argv.slice(2), {
    databaseUrl: process.env["DATABASE_URL"],
    load: async (name): Promise<unknown> => import(pathToFileURL(resolve(name)).href)
  }).pipe(Effect.provide(warnings))
)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = exitCode
