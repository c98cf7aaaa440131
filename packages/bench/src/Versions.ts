/** The versions of the contestants. */
import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"

const names = [
  "effect",
  "@effect/sql-pg",
  "graphile-worker",
  "pg-boss",
  "rate-limiter-flexible",
  "fastify",
  "@fastify/send",
  "pg",
  "undici",
  "sharp",
  "h264-mp4-encoder"
]

/** Returns `name version` of each installed contestant. */
export const versions = (): ReadonlyArray<string> =>
  names.map((name) => {
    const path = findPackageJSON(name, import.meta.url)
    if (path === undefined) throw new Error(`${name} is not installed`)
    return `${name} ${JSON.parse(readFileSync(path, "utf8")).version}`
  })
