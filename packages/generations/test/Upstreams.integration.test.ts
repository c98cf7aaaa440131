import { TestDatabase } from "@kinora/testkit"
import { layerSql, mediaThatTrusts } from "./Assembly.ts"
import { circuitSuite, limitSuite } from "./UpstreamsContract.ts"

for (const [name, database] of TestDatabase.all) {
  circuitSuite(name, layerSql(database, {}, mediaThatTrusts))
  limitSuite(name, layerSql(database, {}, mediaThatTrusts))
}
