import { TestDatabase } from "@kinora/testkit"
import { layerSql, mediaThatTrusts } from "./Assembly.ts"
import {
  circuitSuite,
  deadlineSuite,
  fallbackSuite,
  limitSuite,
  reuseSuite,
  sharedLimitSuite
} from "./UpstreamsContract.ts"

for (const [name, database] of TestDatabase.all) {
  circuitSuite(name, layerSql(database, {}, mediaThatTrusts))
  limitSuite(name, layerSql(database, {}, mediaThatTrusts))
  sharedLimitSuite(name, layerSql(database, {}, mediaThatTrusts))
  fallbackSuite(name, layerSql(database, {}, mediaThatTrusts))
  deadlineSuite(name, layerSql(database, {}, mediaThatTrusts))
  reuseSuite(name, layerSql(database, {}, mediaThatTrusts))
}
