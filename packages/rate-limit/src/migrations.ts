/** The tables of limits, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { migrations as byName } from "./internal/sql/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "rate_limit",
  migrations: byName,
  objects: {
    tables: ["rate_limit_minute", "rate_limit_day", "rate_limit_place", "rate_limit_window", "rate_limit_bucket"],
    functions: ["rate_limit_acquire_places"]
  }
}
