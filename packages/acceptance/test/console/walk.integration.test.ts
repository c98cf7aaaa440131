/** People use the console on a real server, in a real browser. */
import { databases } from "../sites.ts"
import * as MemberWalk from "./memberWalk.ts"
import * as OperatorWalk from "./operatorWalk.ts"
import { onConsole } from "./Stand.ts"

for (const database of databases) {
  onConsole(`the console on ${database}`, database, (test) => {
    test("lets a member generate, manage keys and webhooks, and read the usage", async (stand) =>
      MemberWalk.walk(stand, await stand.openAccount()))

    test("lets an operator create an account, grant credits, fail a job, and verify the ledger", OperatorWalk.walk)
  })
}
