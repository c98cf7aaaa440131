import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite } from "./AttemptFilesContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database))
