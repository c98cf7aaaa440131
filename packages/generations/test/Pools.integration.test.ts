import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { queueSuite, suite, timeSuite } from "./PoolsContract.ts"

for (const [name, database] of TestDatabase.all) {
  suite(name, layerSql(database))
  timeSuite(name, layerSql(database))
  queueSuite(name, layerSql(database))
}
