import { Media } from "@kinora/media"
import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite } from "./ResultsContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database, {}, Media.layer()))
