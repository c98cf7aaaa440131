/** The errors of the database in a cause. */
import { Cause } from "effect"
import { SqlError } from "effect/sql"

/**
 * Returns the errors of the database in a cause. Includes defects, since the driver reports a connection that is lost
 * inside a transaction as one, and the `cause` of errors of a package.
 */
export const sqlErrorsIn = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons.flatMap((reason) => {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    const error = SqlError.isSqlError(problem) ? problem : problem instanceof Error ? problem.cause : undefined
    return SqlError.isSqlError(error) ? [error] : []
  })

/** Returns the SQLSTATE of the response that an error reports, or an empty text. */
export const sqlStateOf = ({ reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""
