/** The table of claims, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { addResponse, createClaim } from "./internal/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "idempotency",
  migrations: { "0001_claim": createClaim, "0002_response": addResponse },
  objects: { tables: ["idempotency_claim"] }
}
