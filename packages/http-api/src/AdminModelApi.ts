/** The part of the operator API that is about models. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminModel, AdminModelList } from "./AdminModel.ts"
import { operate } from "./internal/adminOperation.ts"
import { parameter } from "./internal/fields.ts"
import { pageQuery } from "./internal/pages.ts"

const modelId = { id: parameter("The id of the model, or an alias of it.") }

/** Lists, pauses and resumes models. */
export class AdminModels extends HttpApiGroup.make("models").add(
  operate(
    "auditor",
    "List the models",
    "All models of the catalog, withdrawn ones included. Pass `next_cursor` of one page as `cursor` for the next page.",
    [],
    (error) =>
      HttpApiEndpoint.get("listModels", "/models", {
        query: pageQuery,
        success: AdminModelList,
        error
      })
  ),
  operate(
    "operator",
    "Pause a model",
    "New jobs are rejected with 503 `model_unavailable`, on every server within 5 seconds. Waiting jobs stay in the " +
      "queue, and running ones continue. Idempotent.",
    ["not_found"],
    (error) => HttpApiEndpoint.post("pauseModel", "/models/:id/pause", { params: modelId, success: AdminModel, error })
  ),
  operate(
    "operator",
    "Resume a model",
    "Ends the pause of an operator, on every server and worker within 5 seconds. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.post("resumeModel", "/models/:id/resume", { params: modelId, success: AdminModel, error })
  )
).annotate(OpenApi.Description, "List, pause and resume models.") {}
