/** The tables of webhooks, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import * as Tables from "./internal/sql/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "webhooks",
  migrations: {
    "0001_endpoints_and_deliveries": Tables.endpointsAndDeliveries,
    "0002_subjects": Tables.subjects,
    "0003_failing": Tables.failing
  },
  indexes: { webhooks_event_about: "ON webhooks_event (subject) WHERE subject IS NOT NULL" },
  objects: {
    tables: [
      "webhooks_endpoint",
      "webhooks_secret",
      "webhooks_event",
      "webhooks_delivery",
      "webhooks_send",
      "webhooks_failing"
    ]
  }
}
