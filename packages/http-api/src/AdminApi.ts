/**
 * The interface for operators (D50), apart from the one for clients: it has its own
 * token and its own OpenAPI document, and a service without a token does not have it.
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Envelope } from "./Access.ts"
import { AdminAuth } from "./AdminAccess.ts"
import {
  AdminAccount,
  AdminDeposit,
  AdminKeyList,
  AdminNewKey,
  CreateAccountRequest,
  CreateKeyRequest,
  DepositRequest,
  SetCreditsPlanRequest,
  SetStudioPlanRequest
} from "./AdminAccount.ts"
import { AdminConflictResponse } from "./AdminError.ts"
import { AccountCount, AdminLot, AdminTransactionList, AdminVerification, GrantLotRequest } from "./AdminLedger.ts"
import { AdminWebhooks } from "./AdminWebhookApi.ts"
import { NotFoundResponse, PayloadTooLargeResponse, UnsupportedMediaTypeResponse } from "./ApiError.ts"
import { complete } from "./internal/adminOpenApi.ts"
import { shownOnce } from "./internal/shownOnce.ts"

const id = { id: Schema.String }
const keyId = { ...id, key_id: Schema.String }
/** The last account of a page. No account has U+0000 in its name, and databases refuse to compare it. */
const Cursor = Schema.String.check(
  Schema.isMaxLength(128),
  Schema.makeFilter((text) => !text.includes("\0"), { expected: "the next_cursor of an earlier call" })
)
const badBody = [PayloadTooLargeResponse, UnsupportedMediaTypeResponse] as const

/** Accounts and whether they may use the service. */
export class AdminAccounts extends HttpApiGroup.make("accounts").add(
  HttpApiEndpoint.post("createAccount", "/accounts", {
    payload: CreateAccountRequest,
    success: AdminAccount.pipe(HttpApiSchema.status(201)),
    error: [AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Create an account",
    description: "It begins without a plan, credits or keys."
  })),
  HttpApiEndpoint.get("getAccount", "/accounts/:id", {
    params: id,
    success: AdminAccount,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({ summary: "Get an account" })),
  HttpApiEndpoint.post("suspendAccount", "/accounts/:id/suspend", {
    params: id,
    success: AdminAccount,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Suspend an account",
    description: "Its requests are refused with 403 `account_suspended`, on every host within 5 seconds. " +
      "Jobs go on. Again changes nothing."
  })),
  HttpApiEndpoint.post("resumeAccount", "/accounts/:id/resume", {
    params: id,
    success: AdminAccount,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Resume an account",
    description: "Ends a suspension. Without one it changes nothing."
  }))
).middleware(AdminAuth).prefix("/admin/v1")
  .annotate(OpenApi.Description, "Accounts and whether they may use the service.")
{}

/** API keys. */
export class AdminKeys extends HttpApiGroup.make("keys").add(
  HttpApiEndpoint.post("createKey", "/accounts/:id/keys", {
    params: id,
    payload: CreateKeyRequest,
    success: shownOnce(AdminNewKey.pipe(HttpApiSchema.status(201))),
    error: [NotFoundResponse, AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Create an API key",
    description: "The key is in this response only; its digest is all that is kept."
  })),
  HttpApiEndpoint.get("listKeys", "/accounts/:id/keys", {
    params: id,
    success: AdminKeyList,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "List the keys of an account",
    description: "All that are in use, then the latest revoked ones; at most 200."
  })),
  HttpApiEndpoint.delete("revokeKey", "/accounts/:id/keys/:key_id", {
    params: keyId,
    success: HttpApiSchema.NoContent,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Revoke an API key",
    description: "Ends its use on every host within 5 seconds. Again changes nothing."
  }))
).middleware(AdminAuth).prefix("/admin/v1")
  .annotate(OpenApi.Description, "API keys of accounts.")
{}

/** Plans, at most one in each group, and the balance that they are paid from. */
export class AdminPlans extends HttpApiGroup.make("plans").add(
  HttpApiEndpoint.put("setStudioPlan", "/accounts/:id/plans/studio", {
    params: id,
    payload: SetStudioPlanRequest,
    success: AdminAccount,
    error: [NotFoundResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({ summary: "Set the Studio plan", description: "Replaces the one that was." })),
  HttpApiEndpoint.delete("endStudioPlan", "/accounts/:id/plans/studio", {
    params: id,
    success: HttpApiSchema.NoContent,
    error: NotFoundResponse
  }).annotateMerge(
    OpenApi.annotations({ summary: "End the Studio plan", description: "Without one nothing changes." })
  ),
  HttpApiEndpoint.put("setCreditsPlan", "/accounts/:id/plans/credits", {
    params: id,
    payload: SetCreditsPlanRequest,
    success: AdminAccount,
    error: [NotFoundResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Set the Credits plan",
    description: "Replaces the one that was. Its credits are granted apart, as a lot; a renewal brings its own."
  })),
  HttpApiEndpoint.delete("endCreditsPlan", "/accounts/:id/plans/credits", {
    params: id,
    success: HttpApiSchema.NoContent,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "End the Credits plan",
    description: "Its lots stay. Without a plan nothing changes."
  })),
  HttpApiEndpoint.post("deposit", "/accounts/:id/deposits", {
    params: id,
    payload: DepositRequest,
    success: [AdminDeposit.pipe(HttpApiSchema.status(201)), AdminDeposit],
    error: [NotFoundResponse, AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Add to the balance",
    description:
      "Once for its reference: 201 when it was added, 200 with the deposit as it was when the same was added before. " +
      "A plan with `auto_renew` is paid from the balance at its `period_end`, and lapses when that is too little."
  }))
).middleware(AdminAuth).prefix("/admin/v1")
  .annotate(
    OpenApi.Description,
    "Plans of accounts, at most one in each group, and the balance that they are paid from."
  )
{}

/** Lots, bookings, verification. */
export class AdminLedger extends HttpApiGroup.make("ledger").add(
  HttpApiEndpoint.post("grantLot", "/accounts/:id/lots", {
    params: id,
    payload: GrantLotRequest,
    success: [AdminLot.pipe(HttpApiSchema.status(201)), AdminLot],
    error: [NotFoundResponse, AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Grant credits",
    description:
      "Opens a lot, once for its reference: 201 when it was opened, 200 with the lot as it is now when the " +
      "same was granted before."
  })),
  HttpApiEndpoint.get("listBookings", "/generations/:id/ledger", {
    params: id,
    success: AdminTransactionList,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Get what was booked for a job",
    description: "Its charge, and its refund if there was one."
  })),
  HttpApiEndpoint.post("verifyLedger", "/ledger/verify", {
    query: {
      account: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
      cursor: Schema.optionalKey(Cursor),
      limit: Schema.optionalKey(AccountCount)
    },
    success: AdminVerification,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Verify the books",
    description: "Compares the books with the figures that are kept beside them, while others go on working: of one " +
      "`account`, or of `limit` accounts from `cursor` on. Repeat it with `next_cursor` until that is null."
  }))
).middleware(AdminAuth).prefix("/admin/v1")
  .annotate(OpenApi.Description, "Credits, what was booked, and whether the books are sound.")
{}

/** The whole interface for operators. */
export class AdminApi extends HttpApi.make("kinora-admin")
  .add(AdminAccounts)
  .add(AdminKeys)
  .add(AdminPlans)
  .add(AdminLedger)
  .add(AdminWebhooks)
  .middleware(Envelope)
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotateMerge(OpenApi.annotations({
    title: "Kinora for operators",
    version: "1.0.0",
    description:
      "Accounts, keys, plans, balances, credits, the books and the webhooks of a Kinora service. Without `KINORA_ADMIN_TOKEN` " +
      "everything here is 404 `not_found`. Every error is the envelope `{ error: { code, message, plan, details } }`. " +
      "An unknown id, well-formed or not, is 404 `not_found`; so is an unknown path. A known path with another method " +
      "is 405 `method_not_allowed` with `Allow`. HEAD goes wherever GET goes, and a `/` at the end of a path changes nothing.",
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    servers: [{ url: "/", description: "The origin that this document came from." }]
  }))
  // The annotation's type knows no more than that the document is a record.
  .annotate(OpenApi.Transform, (spec) => complete(spec as OpenApi.OpenAPISpec))
{}
