/** The table of claims, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { createClaim } from "./internal/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "idempotency",
  migrations: { "0001_claim": createClaim },
  objects: { tables: ["idempotency_claim"] }
}
