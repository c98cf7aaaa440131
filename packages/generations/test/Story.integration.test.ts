import { TestDatabase } from "@kinora/testkit"
import { layerSql, mediaThatTrusts } from "./Assembly.ts"
import { suite, waitingMax } from "./StoryContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database, { waitingMax }, mediaThatTrusts), 12)
