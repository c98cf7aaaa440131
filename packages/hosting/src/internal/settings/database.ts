/** Limits of connections to Postgres, from the settings. */
import { Duration } from "effect"
import type { Values } from "./definitions.ts"

/** Returns the fields of `Settings` with these limits. */
export const databaseOf = (values: Values) => ({
  databasePoolSize: values.database_pool_size,
  databaseWait: Duration.seconds(values.database_wait_seconds),
  databaseStatement: Duration.seconds(values.database_statement_seconds),
  databaseUnit: Duration.seconds(values.database_unit_seconds),
  databaseLock: Duration.millis(values.database_lock_milliseconds),
  databaseIdle: Duration.millis(values.database_idle_milliseconds),
  clockSkewMax: Duration.seconds(values.clock_skew_seconds)
})
