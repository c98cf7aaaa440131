/** The machine of the measurement, and its baseline. */
import { Effect, type Scope } from "effect"
import { availableParallelism, cpus, totalmem } from "node:os"
import { attempt, type BenchmarkFailure, type Environment } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as PgPool from "./PgPool.ts"

/** Describes the machine and its runtime in one line. */
export const description = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${
    Math.round(totalmem() / 2 ** 30)
  } GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`

/** Statements per second through `pg`: an upper bound of anything that uses one statement per operation. */
export interface Baseline {
  readonly what: string
  readonly perSecond: number
}

/** Measures the simplest prepared statements. */
export const baseline = Effect.fnUntraced(function*(
  { database, seconds }: Environment
): Effect.fn.Return<ReadonlyArray<Baseline>, BenchmarkFailure, Scope.Scope> {
  const url = yield* database
  return yield* attempt("The baseline failed", async () => {
    const pool = PgPool.make(url)
    try {
      await pool.query("CREATE TABLE note (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)")
      const measure = async (what: string, callers: number, name: string, text: string): Promise<Baseline> => {
        const { perSecond } = await Callers.ofPromises({ callers, seconds }, () => pool.query({ name, text }))
        return { what, perSecond }
      }
      const insert = "INSERT INTO note (text) VALUES ('a few words')"
      return [
        await measure("SELECT 1, 1 connection", 1, "one", "SELECT 1"),
        await measure("SELECT 1, 16 connections", 16, "one", "SELECT 1"),
        await measure("INSERT and commit, 1 connection", 1, "note", insert),
        await measure("INSERT and commit, 16 connections", 16, "note", insert)
      ]
    } finally {
      await pool.end()
    }
  })
}, Effect.scoped)
