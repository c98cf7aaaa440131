import { Pipelining } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite as slots } from "./PlanChangesContract.ts"
import { suite as renewal } from "./PlanRenewalContract.ts"

for (const [name, database] of TestDatabase.all) {
  renewal(name, layerSql(database))
  slots(name, layerSql(database))
}

const pipelined = layerSql(TestDatabase.postgresWith(Pipelining.over))
renewal("Postgres, pipelined", pipelined)
slots("Postgres, pipelined", pipelined)
