/** The dialogs of the console on PGlite in a real browser. */
import * as Dialogs from "./dialogs.ts"
import { onConsole } from "./Stand.ts"
import * as Visitor from "./Visitor.ts"

onConsole("the dialogs of the console", "PGlite", (test) => Dialogs.declare(test, Visitor.once()))
