import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import {
  circuitSuite,
  deadlineSuite,
  fallbackSuite,
  limitSuite,
  reuseSuite,
  sharedLimitSuite
} from "./UpstreamsContract.ts"

for (const [name, database] of TestDatabase.all) {
  circuitSuite(name, layerSql(database))
  limitSuite(name, layerSql(database))
  sharedLimitSuite(name, layerSql(database))
  fallbackSuite(name, layerSql(database))
  deadlineSuite(name, layerSql(database))
  reuseSuite(name, layerSql(database))
}
