/** Tests of how people use the console, from their sign-in on. */
import * as MemberWalk from "./memberWalk.ts"
import * as OperatorWalk from "./operatorWalk.ts"
import type { Define } from "./Stand.ts"

/** Declares the tests. */
export const declare = (test: Define): void => {
  test("a member can generate, manage keys and webhooks, and read the usage", async (stand) =>
    MemberWalk.walk(stand, await stand.openAccount()))

  test("an operator can create an account, grant credits, fail a job, and verify the ledger", OperatorWalk.walk)
}
