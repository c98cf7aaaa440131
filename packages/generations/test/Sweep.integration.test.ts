import { Media } from "@kinora/media"
import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite } from "./SweepContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database, {}, Media.layer()))
