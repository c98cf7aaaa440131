import { TestDatabase } from "@kinora/testkit"
import * as Backend from "./Backend.ts"
import { suite } from "./ResponsesContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, Backend.over(database))
