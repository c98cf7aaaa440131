/** People use the console on Postgres, in a real browser, and read every page. */
import * as PageStates from "./pageStates.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"
import * as Walks from "./walks.ts"

onConsole("the console on Postgres", "Postgres", (test) => {
  Walks.declare(test)
  PageStates.declareData(test, Visitor.once())
})
