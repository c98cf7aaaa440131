import { TestDatabase } from "@kinora/testkit"
import * as ClaimsContract from "./ClaimsContract.ts"
import { over } from "./Fixture.ts"
import * as WebhookStoreContract from "./WebhookStoreContract.ts"

for (const [name, database] of TestDatabase.all) {
  WebhookStoreContract.suite(name, over(database))
  ClaimsContract.suite(name, over(database))
}
