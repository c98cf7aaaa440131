/** The tables of keys, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { createKey, roomForUpdates } from "./internal/sql/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "api_keys",
  migrations: { "0001_key": createKey, "0002_room_for_updates": roomForUpdates },
  objects: { tables: ["api_keys_key", "api_keys_owner"] }
}
