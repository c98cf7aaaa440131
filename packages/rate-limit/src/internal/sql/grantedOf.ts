/** The rule of `Counter.take` in SQL. */
import type { SqlClient } from "effect/sql"

/** The number of takes of a demand that fit on `used`. */
export const grantedOf = (sql: SqlClient.SqlClient, used: string, demand: string) =>
  sql.literal(`
    CASE
      WHEN ${used} + ${demand}.cost > ${demand}.maximum THEN 0
      WHEN ${demand}.cost = 0 THEN ${demand}.takes
      ELSE LEAST(${demand}.takes, (${demand}.maximum - ${used}) / ${demand}.cost)
    END
  `)
