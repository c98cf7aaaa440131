import { TestDatabase } from "@kinora/testkit"
import * as Backend from "./Backend.ts"
import * as BudgetContract from "./BudgetContract.ts"
import * as PlacesContract from "./PlacesContract.ts"
import * as RateLimitContract from "./RateLimitContract.ts"

for (const [name, database] of TestDatabase.all) {
  RateLimitContract.suite(name, Backend.over(database))
  PlacesContract.suite(name, Backend.over(database))
  BudgetContract.suite(name, Backend.over(database))
}
