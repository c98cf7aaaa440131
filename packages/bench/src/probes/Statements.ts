/** The simplest prepared statements through `pg`: bounds of anything that sends one statement per operation. */
import * as PgPool from "@kinora/testkit/PgPool"
import { Effect } from "effect"
import { attempt } from "../Benchmark.ts"
import * as Callers from "../Callers.ts"
import { callers, type Limit, type Probe } from "./Probe.ts"

/** Measures a statement that reads nothing, and one that commits a row. */
export const probe: Probe = Effect.fnUntraced(function*({ database, seconds }) {
  const url = yield* database
  return yield* attempt("The statements failed", async () => {
    const pool = PgPool.make(url)
    try {
      await pool.query("CREATE TABLE note (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)")
      const limits: Array<Limit> = []
      const measure = async (what: string, name: string, text: string) => {
        for (const count of callers) {
          const { round: { p50 = 0, perSecond } } = await Callers.ofPromises(
            { callers: count, seconds },
            () => pool.query({ name, text })
          )
          limits.push({ what, callers: count, perSecond, p50 })
        }
      }
      await measure("`SELECT 1` through `pg`", "one", "SELECT 1")
      await measure(
        "`INSERT` of a row and commit through `pg`",
        "note",
        "INSERT INTO note (text) VALUES ('a few words')"
      )
      return limits
    } finally {
      await pool.end()
    }
  })
})
