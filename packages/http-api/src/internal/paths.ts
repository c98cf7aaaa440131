/** Parameters of the paths of several endpoints. */
import { parameter } from "./fields.ts"

/** The path of an account in the operator API. */
export const account = "/accounts/:id"

/** The account of a path. */
export const accountId = { id: parameter("The id of the account, `acct_…`.") }

/** The job of a path. */
export const jobId = { id: parameter("The id of the job, `gen_…`.") }
