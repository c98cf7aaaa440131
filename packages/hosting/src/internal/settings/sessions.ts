/** Times of sessions, from the settings. */
import { Duration } from "effect"
import type { Values } from "./definitions.ts"

/** Returns how long sessions of accounts and of operators last. */
export const sessionsOf = (values: Values) => ({
  maxAge: Duration.hours(values.session_hours),
  idle: Duration.hours(values.session_idle_hours),
  operatorMaxAge: Duration.hours(values.operator_session_hours),
  operatorIdle: Duration.hours(values.operator_session_idle_hours)
})
