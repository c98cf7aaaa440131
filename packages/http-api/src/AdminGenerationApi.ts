/** The part of the operator API that is about jobs. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminGeneration, AdminGenerationList } from "./AdminGeneration.ts"
import { Kind, Status } from "./Generation.ts"
import { operate } from "./internal/adminOperation.ts"
import { optionalParameter, parameter } from "./internal/fields.ts"
import { PageSize, Plan } from "./Scalar.ts"

const accountId = { id: parameter("The id of the account, `acct_…`.") }
const jobId = { id: parameter("The id of the job, `gen_…`.") }

/** Lists, reads and cancels jobs of any account. */
export class AdminGenerations extends HttpApiGroup.make("generations").add(
  operate(
    "auditor",
    "List the jobs of an account",
    "Newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listGenerations", "/accounts/:id/generations", {
        params: accountId,
        query: {
          status: Schema.optionalKey(Status.annotate({ description: "Returns only jobs with this status." })),
          kind: Schema.optionalKey(Kind.annotate({ description: "Returns only jobs of this kind." })),
          plan: Schema.optionalKey(Plan.annotate({ description: "Returns only jobs of this plan group." })),
          limit: Schema.optionalKey(PageSize),
          cursor: optionalParameter("`next_cursor` of the previous page.")
        },
        success: AdminGenerationList,
        error
      })
  ),
  operate(
    "auditor",
    "Get a job",
    "A job of any account.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getGeneration", "/generations/:id", { params: jobId, success: AdminGeneration, error })
  ),
  operate(
    "support",
    "Cancel a job",
    "Cancels a job that has not started and refunds it in full.",
    ["not_found", "not_cancellable"],
    (error) =>
      HttpApiEndpoint.post("cancelGeneration", "/generations/:id/cancel", {
        params: jobId,
        success: AdminGeneration,
        error
      })
  )
).annotate(OpenApi.Description, "List, read and cancel jobs of any account.") {}
