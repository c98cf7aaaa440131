import { TestDatabase } from "@kinora/testkit"
import { suite } from "./DirectContract.ts"
import { over } from "./Fixture.ts"

for (const [name, database] of TestDatabase.all) suite(name, over(database))
