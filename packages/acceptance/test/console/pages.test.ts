/** The pages of the console in a real browser: their states, who can use them, and what they keep to themselves. */
import * as PageStates from "./pageStates.ts"
import * as Security from "./security.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"

onConsole("the console", "PGlite", (test) => {
  const visit = Visitor.once()
  PageStates.declare(test, visit)
  Security.declare(test, visit)
})
