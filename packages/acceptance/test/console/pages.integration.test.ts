/** The pages of the console in all their states, on Postgres. */
import * as PageStates from "./pageStates.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"

onConsole("the console on Postgres", "Postgres", (test) => {
  PageStates.declare(test, Visitor.once())
})
