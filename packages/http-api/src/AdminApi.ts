/** The operator API: accounts, keys, plans, jobs, credits and webhooks. It has its own token and its own OpenAPI document. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AdminAuth, Envelope } from "./Access.ts"
import {
  AccountStatus,
  AdminAccount,
  AdminAccountList,
  CreateAccountRequest,
  UpdateAccountRequest
} from "./AdminAccount.ts"
import { AdminGenerations } from "./AdminGenerationApi.ts"
import { AdminKeys } from "./AdminKeyApi.ts"
import {
  AdminBalances,
  AdminLot,
  AdminRevocation,
  AdminStatement,
  AdminTransactionList,
  AdminTrialBalance,
  AdminVerification,
  GrantLotRequest
} from "./AdminLedger.ts"
import { AdminMembers } from "./AdminMemberApi.ts"
import { AdminModels } from "./AdminModelApi.ts"
import { AdminAudit, AdminOperators } from "./AdminOperatorApi.ts"
import { AdminPlans } from "./AdminPlanApi.ts"
import { AdminQueue } from "./AdminQueueApi.ts"
import { AdminSessions } from "./AdminSessionApi.ts"
import { AdminSignInLinks } from "./AdminSignInApi.ts"
import { AdminSystem } from "./AdminSystemApi.ts"
import { AdminWallet } from "./AdminWalletApi.ts"
import { AdminWebhooks } from "./AdminWebhookApi.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { Cursor } from "./internal/cursor.ts"
import { documentation, strictParsing } from "./internal/documentation.ts"
import { parameter } from "./internal/fields.ts"
import { completeAdmin } from "./internal/openApi.ts"
import { pageQuery } from "./internal/pages.ts"
import { account, accountId, jobId } from "./internal/paths.ts"
import { AccountCount, StatementSize } from "./Scalar.ts"

/** Creates, lists, changes, suspends and resumes accounts. */
export class AdminAccounts extends HttpApiGroup.make("accounts").add(
  configure(
    "operator",
    "Create an account",
    "The account has no plan, credits or keys at first.",
    ["email_taken"],
    (error) =>
      HttpApiEndpoint.post("createAccount", "/accounts", {
        payload: CreateAccountRequest,
        success: AdminAccount.pipe(HttpApiSchema.status(201)),
        error
      })
  ),
  operate(
    "auditor",
    "List accounts",
    "Newest first. Pass `next_cursor` of one page as `cursor` for the next page. A page at the end can be empty.",
    ["invalid_params"],
    (error) =>
      HttpApiEndpoint.get("listAccounts", "/accounts", {
        query: {
          search: Schema.optionalKey(
            parameter("Lists the account with this id, or accounts whose e-mail address contains this text.").check(
              Schema.isMaxLength(254)
            )
          ),
          status: Schema.optionalKey(AccountStatus.annotate({ description: "Lists only accounts with this status." })),
          ...pageQuery
        },
        success: AdminAccountList,
        error
      })
  ),
  operate(
    "auditor",
    "Get an account",
    undefined,
    ["not_found"],
    (error) => HttpApiEndpoint.get("getAccount", account, { params: accountId, success: AdminAccount, error })
  ),
  configure(
    "operator",
    "Change the e-mail address of an account",
    "The former address is free for another account at once.",
    ["account_deleted", "email_taken", "not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateAccount", account, {
        params: accountId,
        payload: UpdateAccountRequest,
        success: AdminAccount,
        error
      })
  ),
  operate(
    "support",
    "Suspend an account",
    "Its requests are rejected with 403 `account_suspended`, on every server within 5 seconds. Running jobs continue. " +
      "Idempotent.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.post("suspendAccount", `${account}/suspend`, { params: accountId, success: AdminAccount, error })
  ),
  operate(
    "support",
    "Resume an account",
    "Ends a suspension. Idempotent.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.post("resumeAccount", `${account}/resume`, { params: accountId, success: AdminAccount, error })
  ),
  operate(
    "operator",
    "Delete an account",
    "Revokes its keys, removes its plans and webhook endpoints, and ends signed URLs and event streams within 5 seconds. " +
      "Jobs that wait or run continue. Its data is erased after 30 days, unless it is restored before. Idempotent.",
    ["not_found"],
    (error) => HttpApiEndpoint.delete("deleteAccount", account, { params: accountId, success: AdminAccount, error })
  ),
  operate(
    "operator",
    "Restore a deleted account",
    "Its keys, plans and webhook endpoints do not come back. Idempotent.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.post("restoreAccount", `${account}/restore`, { params: accountId, success: AdminAccount, error })
  )
).annotate(OpenApi.Description, "Create, list, change, suspend, resume, delete and restore accounts.") {}

/** Grants credits, and lists and verifies bookings. */
export class AdminLedger extends HttpApiGroup.make("ledger").add(
  configure(
    "operator",
    "Grant credits",
    "Opens a lot once per reference: responds with 201 the first time, and with 200 and the current lot if the request " +
      "is repeated.",
    ["not_found", "reference_reused"],
    (error) =>
      HttpApiEndpoint.post("grantLot", `${account}/lots`, {
        params: accountId,
        payload: GrantLotRequest,
        success: [AdminLot.pipe(HttpApiSchema.status(201)), AdminLot],
        error
      })
  ),
  operate(
    "operator",
    "Revoke a lot",
    "Ends the lot now: what is left is booked as expired. Jobs that it has paid stay paid; a refund of one opens a new " +
      "lot. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.post("revokeLot", `${account}/lots/:lot_id/revoke`, {
        params: { ...accountId, lot_id: parameter("The id of the lot, `lot_…`.") },
        success: AdminRevocation,
        error
      })
  ),
  operate(
    "auditor",
    "Get the credits of an account",
    "The lots that jobs can use, and the use of today's quotas.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getBalances", `${account}/balances`, { params: accountId, success: AdminBalances, error })
  ),
  operate(
    "auditor",
    "List the bookings of an account",
    "Grants, charges, refunds and expiries, newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listTransactions", `${account}/transactions`, {
        params: accountId,
        query: { limit: Schema.optionalKey(StatementSize), cursor: Schema.optionalKey(Cursor) },
        success: AdminStatement,
        error
      })
  ),
  operate(
    "auditor",
    "List the bookings of a job",
    "Its charge, and its refund if it was refunded.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listBookings", "/generations/:id/ledger", {
        params: jobId,
        success: AdminTransactionList,
        error
      })
  ),
  operate(
    "auditor",
    "Get the trial balance",
    "The totals of all books by class, as of one moment, and whether they balance. Charges continue meanwhile.",
    [],
    (error) => HttpApiEndpoint.get("getTrialBalance", "/ledger/trial-balance", { success: AdminTrialBalance, error })
  ),
  operate(
    "auditor",
    "Verify the books",
    "Compares the books of one `account`, or of `limit` accounts after `cursor`, with the stored balances. Repeat with " +
      "`next_cursor` until it is null. The service stays available meanwhile.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.post("verifyLedger", "/ledger/verify", {
        query: {
          account: Schema.optionalKey(
            parameter("Verifies only this account. Default: all accounts.").check(
              Schema.isMaxLength(128)
            )
          ),
          cursor: Schema.optionalKey(Cursor),
          limit: Schema.optionalKey(AccountCount)
        },
        success: AdminVerification,
        error
      })
  )
).annotate(OpenApi.Description, "Grant credits, and list and verify bookings.") {}

/** The operator API. */
export class AdminApi extends HttpApi.make("kinora-admin")
  .add(AdminAccounts)
  .add(AdminKeys)
  .add(AdminMembers)
  .add(AdminPlans)
  .add(AdminWallet)
  .add(AdminGenerations)
  .add(AdminQueue)
  .add(AdminModels)
  .add(AdminLedger)
  .add(AdminWebhooks)
  .add(AdminOperators)
  .add(AdminAudit)
  .add(AdminSignInLinks)
  .add(AdminSessions)
  .add(AdminSystem)
  .middleware(AdminAuth)
  .middleware(Envelope)
  .prefix("/admin/v1")
  .annotateMerge(strictParsing)
  .annotateMerge(documentation(
    "Kinora for operators",
    "Accounts, API keys, plans, balances, jobs, credits, bookings, webhooks, operators and the audit log of a Kinora " +
      "service. If `KINORA_ADMIN_TOKEN` " +
      "is unset, every path responds with 404 `not_found`. So do unknown ids, malformed ones included.",
    completeAdmin
  ))
{}
