import { TestDatabase } from "@kinora/testkit"
import { suite } from "./AccountChangesContract.ts"
import { layerSql } from "./Assembly.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database))
