/** Errors of requests, in words. */
import { KinoraError, ResponseError } from "@kinora/client"

/** The service refused a request of `call`. */
export class CallError extends Error {
  override readonly name = "CallError"
  /** The code of the error, for programs; `unknown` if the response has no error body of the service. */
  declare readonly code: string
  declare readonly status: number
  declare readonly details: Readonly<Record<string, unknown>>
  declare readonly requestId: string | null
  declare readonly retryAfterMillis: number | null

  constructor(message: string, refusal: Omit<CallError, keyof Error>) {
    super(message)
    Object.assign(this, refusal)
  }
}

/** An error as pages show it. */
export interface Problem {
  readonly title: string
  readonly detail: string
  /** `null` if no response arrived. */
  readonly code: string | null
  readonly requestId: string | null
  readonly retryAfterMillis: number | null
  /** Messages by the name of the invalid field. */
  readonly issues: ReadonlyMap<string, string>
}

/** Describes any error. */
export const problemOf = (error: unknown): Problem => {
  if (error instanceof ResponseError || error instanceof CallError) {
    return {
      title: titles[error.code] ?? (error.status >= 500 ? "The service failed" : "The request was refused"),
      // The message of `ResponseError` begins with the status and the code.
      detail: error instanceof ResponseError ? error.message.slice(error.message.indexOf(": ") + 2) : error.message,
      code: error.code,
      requestId: error.requestId,
      retryAfterMillis: error.retryAfterMillis,
      issues: issuesOf(error.details["issues"])
    }
  }
  const isOffline = error instanceof TypeError || error instanceof KinoraError
  return {
    title: isOffline ? "The service did not respond" : "The request failed",
    detail: isOffline
      ? "Check your connection, then try again."
      : error instanceof Error
      ? error.message
      : "An unknown error occurred.",
    code: null,
    requestId: null,
    retryAfterMillis: null,
    issues: new Map()
  }
}

/** Whether the session has ended, so that the user has to sign in. */
export const isSessionEnded = (error: unknown): boolean =>
  (error instanceof ResponseError || error instanceof CallError) && error.status === 401

/** Whether the API key of the session does not have the scope of the request. */
export const isScopeMissing = (error: unknown): boolean => error instanceof CallError && error.code === "scope_missing"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const titles: Readonly<Record<string, string>> = {
  insufficient_credits: "Not enough credits",
  insufficient_balance: "The balance is too low",
  quota_exceeded: "Daily quota reached",
  plan_inactive: "No active plan",
  queue_full: "The queue is full",
  rate_limited: "Too many requests",
  invalid_params: "Check the highlighted fields",
  invalid_image: "This image cannot be used",
  invalid_webhook_url: "This URL cannot be used",
  model_unavailable: "This model is paused",
  account_suspended: "This account is suspended",
  not_cancellable: "The job has already started",
  not_found: "Not found",
  role_missing: "Your role does not permit this",
  scope_missing: "Your API key does not permit this",
  too_many_keys: "You have the maximum number of API keys",
  too_many_endpoints: "You have the maximum number of webhook endpoints",
  reference_reused: "This reference was already used",
  email_taken: "This e-mail address is taken",
  session_not_allowed: "Your session does not permit this",
  view_only: "You view this account as an operator",
  cross_origin: "The request came from another page",
  console_disabled: "The console is disabled",
  member_exists: "This person is already a member",
  too_many_members: "The account has the maximum number of members",
  no_account: "You have no account",
  too_many_links: "There are too many unused links",
  key_budget_fixed: "An operator has set this limit",
  key_budget_exceeded: "The budget of the API key is used up",
  unauthorized: "Your session has ended",
  unavailable: "The service is unavailable"
}

const issuesOf = (issues: unknown): ReadonlyMap<string, string> =>
  new Map(
    (Array.isArray(issues) ? issues : []).flatMap((issue: unknown) =>
      typeof issue === "object" && issue !== null && "path" in issue && "message" in issue
        ? [[String(issue.path).replace(/^params\./, ""), String(issue.message)] as const]
        : []
    )
  )
