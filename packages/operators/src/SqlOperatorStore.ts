/** Operators and audit entries in Postgres. Of a token, the tables hold the hash and the first 12 characters. */
import type { Migrations } from "@kinora/persistence/Migrations"
import * as SqlStore from "@kinora/persistence/SqlStore"
import type { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as Audit from "./internal/sql/audit.ts"
import { auditRoles, operatorsTables } from "./internal/sql/migrations.ts"
import * as Operators from "./internal/sql/operators.ts"
import { OperatorStore } from "./OperatorStore.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "operators",
  migrations: { "0001_operators": operatorsTables, "0002_audit_roles": auditRoles }
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<OperatorStore, never, SqlClient.SqlClient> = SqlStore.layer(OperatorStore, {
  ...Operators,
  ...Audit
})
