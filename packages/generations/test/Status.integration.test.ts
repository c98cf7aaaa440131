import { TestDatabase } from "@kinora/testkit"
import { layerSql, mediaThatTrusts } from "./Assembly.ts"
import { refusalSuite, statusSuite } from "./StatusContract.ts"

for (const [name, database] of TestDatabase.all) {
  statusSuite(name, layerSql(database, {}, mediaThatTrusts))
  refusalSuite(name, layerSql(database, {}, mediaThatTrusts))
}
