import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { refusalSuite, statusSuite } from "./StatusContract.ts"

for (const [name, database] of TestDatabase.all) {
  statusSuite(name, layerSql(database))
  refusalSuite(name, layerSql(database))
}
