import { TestDatabase } from "@kinora/testkit"
import { over } from "./Fixture.ts"
import { suite } from "./TransactionsContract.ts"

for (const [name, database, callers] of TestDatabase.all) suite(name, over(database), callers)
