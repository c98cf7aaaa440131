/** The parts of a promise API that need no database, for packages without one. The others use `promise`. */
export {
  type ErrorClass,
  type ErrorClasses,
  errorsByTag,
  errorsOf,
  type Fields,
  ownMessage
} from "./internal/promise/errors.ts"
export { checkInputs, type FieldType, type Inputs } from "./internal/promise/inputs.ts"
export { type Plain, toPlain } from "./internal/promise/plain.ts"
export { runPromise } from "./internal/promise/run.ts"
export { type TelemetryOptions, withTelemetry } from "./internal/promise/telemetry.ts"
