import { TestDatabase } from "@kinora/testkit"
import * as Backends from "./Backends.ts"
import { suite } from "./LedgerContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, Backends.over(database))
