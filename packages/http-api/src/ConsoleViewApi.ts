/** The part of the API of the console with which operators view an account. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConsoleAuth } from "./Access.ts"
import { SessionView, StartViewRequest } from "./ConsoleSession.ts"
import { alter, submit } from "./internal/consoleOperation.ts"
import * as Policy from "./RequestPolicy.ts"

/** Starts and ends the view of an account. */
export class ConsoleViews extends HttpApiGroup.make("view").add(
  submit(
    Policy.browsing("operator"),
    "View an account",
    "The session then reads `/v1` and `/console/v1` like a viewer of the account, for an hour and at most until it ends. " +
      "Changes get 403 `view_only`. Replaces the view of another account. Requires the role `support`. Recorded in the " +
      "audit log.",
    ["account_deleted", "account_suspended", "not_found", "role_missing"],
    (error) => HttpApiEndpoint.post("startView", "/view", { payload: StartViewRequest, success: SessionView, error })
  ),
  alter(
    Policy.browsing("operator"),
    "Stop viewing an account",
    "Recorded in the audit log. Idempotent.",
    [],
    (error) => HttpApiEndpoint.delete("endView", "/view", { success: HttpApiSchema.NoContent, error })
  )
).middleware(ConsoleAuth).annotate(OpenApi.Description, "View an account as an operator, without changing it.") {}
