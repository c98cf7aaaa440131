import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite, waitingMax } from "./StoryContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database, { waitingMax }), 12)
