import { TestDatabase } from "@kinora/testkit"
import { over } from "./Fixture.ts"
import * as TransactionsContract from "./TransactionsContract.ts"

for (const [name, database, callers] of TestDatabase.all) {
  TransactionsContract.suite(name, over(database), callers)
}
