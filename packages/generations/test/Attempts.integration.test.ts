import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite } from "./AttemptsContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database))
