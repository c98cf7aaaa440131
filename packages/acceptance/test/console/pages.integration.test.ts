/** People use the console on Postgres, in a real browser, whose pages have all their states. */
import * as PageStates from "./pageStates.ts"
import * as ReachedLimits from "./reachedLimits.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"
import * as Walks from "./walks.ts"

onConsole("the console on Postgres", "Postgres", (test) => {
  Walks.declare(test)
  PageStates.declareStatesOnly(test, Visitor.once())
  ReachedLimits.declare(test)
})
