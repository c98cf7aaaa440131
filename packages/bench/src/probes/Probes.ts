/** Every probe, in the order of the report. */
import { Effect } from "effect"
import * as CreateStatement from "./CreateStatement.ts"
import * as HttpServers from "./HttpServers.ts"
import type { Probe } from "./Probe.ts"
import * as Statements from "./Statements.ts"

/** Measures all limits of the machine. */
export const measure: Probe = (environment) =>
  Effect.forEach(
    [HttpServers.probe, Statements.probe, CreateStatement.probe],
    (probe) => Effect.scoped(probe(environment))
  ).pipe(Effect.map((limits) => limits.flat()))
