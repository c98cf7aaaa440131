/** The part of the operator API that is about workers and queues. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AdminLaneList, AdminModelQueueList, AdminWorkerList } from "./AdminQueue.ts"
import { operate } from "./internal/adminOperation.ts"
import { optionalParameter, parameter } from "./internal/fields.ts"
import { pageQuery } from "./internal/pages.ts"

/** Lists, drains and resumes workers, and lists waiting jobs. */
export class AdminQueue extends HttpApiGroup.make("queue").add(
  operate(
    "auditor",
    "List the workers",
    "The workers that run, by id. Pass `next_cursor` of one page as `cursor` for the next page.",
    [],
    (error) =>
      HttpApiEndpoint.get("listWorkers", "/workers", {
        query: pageQuery,
        success: AdminWorkerList,
        error
      })
  ),
  operate(
    "operator",
    "Drain a worker",
    "Within 2 seconds, the worker claims no more jobs until it is resumed. It finishes those that it runs. Its process and " +
      "other workers continue. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.post("drainWorker", "/workers/:id/drain", {
        params: { id: parameter("The id of the worker, `wrk_…`.") },
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  operate(
    "operator",
    "Resume a worker",
    "Lets a worker that drains, or has drained, claim jobs again within 2 seconds. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.post("resumeWorker", "/workers/:id/resume", {
        params: { id: parameter("The id of the worker, `wrk_…`.") },
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  operate(
    "auditor",
    "Show the queues of the models",
    "Counts the jobs that have not ended, per model, by its id. Reads all of them, so call it every few seconds at " +
      "most. Pass `next_cursor` of one page as `cursor` for the next page.",
    [],
    (error) =>
      HttpApiEndpoint.get("getQueue", "/queue", {
        query: pageQuery,
        success: AdminModelQueueList,
        error
      })
  ),
  operate(
    "auditor",
    "List the lanes of the accounts",
    "The accounts and plan groups with jobs that have not ended. Pass `next_cursor` of one page as `cursor` for the " +
      "next page.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listLanes", "/queue/lanes", {
        query: {
          account: optionalParameter("Returns only the lanes of this account."),
          ...pageQuery
        },
        success: AdminLaneList,
        error
      })
  )
).annotate(
  OpenApi.Description,
  "List, drain and resume workers, and list the queues of models and the lanes of accounts."
) {}
