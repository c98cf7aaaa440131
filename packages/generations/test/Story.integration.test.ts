import { TestDatabase } from "@kinora/testkit"
import { layerMemoryWith, layerSql } from "./Assembly.ts"
import { suite, waitingMax } from "./StoryContract.ts"

suite("memory", layerMemoryWith({ waitingMax }), 100)

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database, { waitingMax }), 12)
