/** Definitions of the settings for Postgres. */
import { Schema } from "effect"
import { between } from "./between.ts"

/** Definitions by key of the file. See `definitions`. */
export const databaseDefinitions = {
  database_url: {
    schema: Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/./)),
    default: undefined,
    expected: "a URL postgres://user:password@host:port/database",
    about: "Postgres to use. If unset, an embedded database in the data directory.",
    isSecret: true
  },
  database_pool_size: {
    schema: between(3, 200),
    default: "16",
    expected: "a number of connections from 3 to 200",
    about: "Maximum number of connections of this process to Postgres."
  },
  database_wait_seconds: {
    schema: between(0, 3_600),
    default: "60",
    expected: "a number of seconds from 0 to 3600",
    about: "Seconds for which a start is repeated while Postgres does not respond."
  },
  database_statement_seconds: {
    schema: between(1, 600),
    default: "4",
    expected: "a number of seconds from 1 to 600",
    about: "Seconds after which Postgres ends a statement. A connection without a response ends after a quarter more."
  },
  database_unit_seconds: {
    schema: between(1, 3_600),
    default: "10",
    expected: "a number of seconds from 1 to 3600",
    about: "Seconds after which a transaction that has not begun to commit is rolled back."
  },
  database_lock_milliseconds: {
    schema: between(10, 60_000),
    default: "300",
    expected: "a number of milliseconds from 10 to 60000",
    about: "Milliseconds after which a transaction that waits for a lock is rolled back and runs again."
  },
  database_idle_milliseconds: {
    schema: between(100, 60_000),
    default: "1000",
    expected: "a number of milliseconds from 100 to 60000",
    about: "Milliseconds after which Postgres ends the session of a transaction whose process sends nothing."
  }
} as const
