/** The part of the API of the console that is about the account and its jobs. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConsoleAuth } from "./Access.ts"
import { AdminGenerationDetail } from "./AdminGeneration.ts"
import { AdminStatement } from "./AdminLedger.ts"
import { AccountSummary } from "./ConsoleAccount.ts"
import { Generation } from "./Generation.ts"
import { alter, browse, submit } from "./internal/consoleOperation.ts"
import { Cursor } from "./internal/cursor.ts"
import { parameter } from "./internal/fields.ts"
import { change, creation, listing, roll } from "./internal/keyOperations.ts"
import { jobId } from "./internal/paths.ts"
import * as Policy from "./RequestPolicy.ts"
import { StatementSize } from "./Scalar.ts"

const keyId = { id: parameter("The id of the key, `key_…`.") }

const update = change(" Limits that an operator has set can be lowered, but not exceeded or removed.")

/** Creates, changes, rolls, lists and revokes the API keys of the account. */
export class ConsoleKeys extends HttpApiGroup.make("keys").add(
  browse(
    Policy.browsing("viewer"),
    "List the API keys",
    listing.description,
    [],
    (error) => HttpApiEndpoint.get("listKeys", "/keys", { ...listing.schemas, error })
  ),
  submit(
    Policy.browsing("member"),
    creation.summary,
    creation.description,
    ["too_many_keys"],
    (error) => HttpApiEndpoint.post("createKey", "/keys", { ...creation.schemas, error })
  ),
  submit(
    Policy.browsing("member"),
    update.summary,
    update.description,
    ["key_budget_fixed", "not_found", "key_ended"],
    (error) => HttpApiEndpoint.patch("updateKey", "/keys/:id", { params: keyId, ...update.schemas, error })
  ),
  submit(
    Policy.browsing("member"),
    roll.summary,
    roll.description,
    ["not_found", "key_ended", "too_many_keys"],
    (error) => HttpApiEndpoint.post("rollKey", "/keys/:id/roll", { params: keyId, ...roll.schemas, error })
  ),
  alter(
    Policy.browsing("member"),
    "Revoke an API key",
    "Requests with the key, and sessions that were created with it, are rejected on every server within 5 seconds. " +
      "Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("revokeKey", "/keys/:id", { params: keyId, success: HttpApiSchema.NoContent, error })
  )
).middleware(ConsoleAuth).annotate(
  OpenApi.Description,
  "Create, change, roll, list and revoke the API keys of the account."
) {}

/** Reports the account and its jobs. */
export class ConsoleReports extends HttpApiGroup.make("reports").add(
  browse(
    Policy.browsing("key", "account:read"),
    "Get the summary",
    "The jobs that have not ended, the slots of both plan groups, and warnings.",
    [],
    (error) => HttpApiEndpoint.get("getSummary", "/summary", { success: AccountSummary, error })
  ),
  browse(
    Policy.browsing("viewer"),
    "Get the statement",
    "Grants, charges, refunds and expiries, newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    [],
    (error) =>
      HttpApiEndpoint.get("getStatement", "/statement", {
        query: { limit: Schema.optionalKey(StatementSize), cursor: Schema.optionalKey(Cursor) },
        success: AdminStatement,
        error
      })
  ),
  browse(
    Policy.browsing("key", "read"),
    "Get the activity of a job",
    "A job of the account, its place in the queue, its steps, and the deliveries of its webhook events. Names of workers " +
      "are empty.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getActivity", "/generations/:id/activity", {
        params: jobId,
        success: AdminGenerationDetail,
        error
      })
  ),
  browse(
    Policy.browsing("key", "read"),
    "Follow all jobs",
    "Server-sent events named `generation` with the job as data, when a job of the account is created and when it changes " +
      "its state. Begins with the jobs that have not ended, and with `Last-Event-ID` also with those that ended since. The " +
      "stream ends after 5 minutes.",
    [],
    (error) =>
      HttpApiEndpoint.get("followJobs", "/events", { success: HttpApiSchema.StreamSse({ data: Generation }), error })
  )
).middleware(ConsoleAuth).annotate(OpenApi.Description, "Reports of the account and its jobs.") {}
