/** The part of the operator API that is about jobs. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminGeneration, AdminGenerationDetail, AdminGenerationList } from "./AdminGeneration.ts"
import { operate } from "./internal/adminOperation.ts"
import { optionalParameter, requestTime } from "./internal/fields.ts"
import { jobFilters, ModelFilter } from "./internal/filters.ts"
import { pageQueryById } from "./internal/pages.ts"
import { accountId, jobId } from "./internal/paths.ts"

/** Lists, searches, reads and ends jobs of any account. */
export class AdminGenerations extends HttpApiGroup.make("generations").add(
  operate(
    "auditor",
    "List the jobs of an account",
    "Newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listGenerations", "/accounts/:id/generations", {
        params: accountId,
        query: { ...jobFilters, ...pageQueryById },
        success: AdminGenerationList,
        error
      })
  ),
  operate(
    "auditor",
    "Search the jobs of all accounts",
    "Newest first. Pass `next_cursor` of one page as `cursor` for the next page. A page of an account and a model can " +
      "have fewer jobs than `limit` although another one follows.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("searchGenerations", "/generations", {
        query: {
          account: optionalParameter("Returns only jobs of the account with this id."),
          status: jobFilters.status,
          model: Schema.optionalKey(ModelFilter),
          created_after: Schema.optionalKey(requestTime("Returns only jobs created at this time or later.")),
          created_before: Schema.optionalKey(requestTime("Returns only jobs created before this time.")),
          ...pageQueryById
        },
        success: AdminGenerationList,
        error
      })
  ),
  operate(
    "auditor",
    "Get a job",
    "A job of any account, its place in the queue, its steps, and the deliveries of its webhook events.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getGeneration", "/generations/:id", { params: jobId, success: AdminGenerationDetail, error })
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
  ),
  operate(
    "operator",
    "Fail a job",
    "Fails a job that has not ended and refunds it in full. A worker that runs it stops, and its result is not " +
      "accepted. Idempotent.",
    ["not_found", "job_ended"],
    (error) =>
      HttpApiEndpoint.post("failGeneration", "/generations/:id/fail", {
        params: jobId,
        success: AdminGeneration,
        error
      })
  ),
  operate(
    "operator",
    "Requeue a job",
    "Takes a started job from its worker and queues it again, without counting the attempt. The worker stops, and its " +
      "result is not accepted. Changes nothing if no worker runs the job.",
    ["not_found", "job_ended"],
    (error) =>
      HttpApiEndpoint.post("requeueGeneration", "/generations/:id/requeue", {
        params: jobId,
        success: AdminGeneration,
        error
      })
  )
).annotate(OpenApi.Description, "List, search, read, cancel, fail and requeue jobs of any account.") {}
