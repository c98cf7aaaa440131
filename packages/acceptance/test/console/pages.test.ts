/** The pages of the console in a real browser. */
import * as PageStates from "./pageStates.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"

onConsole("the console", "PGlite", (test) => {
  const visit = Visitor.once()
  PageStates.declare(test, visit)
})
