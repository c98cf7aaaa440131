/** Builds the template of new embedded databases in `dist`. */
import { Effect } from "effect"
import * as Stores from "../../Stores.ts"
import * as Templates from "./templates.ts"

await Effect.runPromise(Templates.write(Stores.migrations))
