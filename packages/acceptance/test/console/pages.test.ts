/** The console on PGlite in a real browser: how people use it, its sizes and states, and what it keeps secret. */
import * as Connection from "./connection.ts"
import * as FirstLoad from "./firstLoad.ts"
import * as PageStates from "./pageStates.ts"
import * as ReachedLimits from "./reachedLimits.ts"
import * as Security from "./security.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"
import * as Walks from "./walks.ts"

onConsole("the console on PGlite", "PGlite", (test) => {
  const visit = Visitor.once()
  Walks.declare(test)
  FirstLoad.declare(test)
  PageStates.declare(test, visit)
  ReachedLimits.declare(test)
  Security.declare(test, visit)
  Connection.declare(test)
})
