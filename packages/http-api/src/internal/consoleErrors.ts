/** Error codes that only sessions receive, besides those of clients and operators. */
import { Schema } from "effect"
import { ConsoleAccess } from "../RequestPolicy.ts"
import type { ErrorDefinition } from "./ErrorDefinition.ts"
import { field, int, text } from "./fields.ts"

/** The codes of sessions. `/v1` and `/admin/v1` respond with `cross_origin` only to requests with a session. */
export const consoleErrors = {
  invalid_code: {
    status: 401,
    message: "The sign-in link was used or has expired; get another one."
  },
  no_account: {
    status: 403,
    message: "No account has this person as a member; ask your operator for access.",
    details: { email: text("The e-mail address of the person.") }
  },
  cross_origin: {
    status: 403,
    message: "The request does not come from a page of this server; open the console of this server."
  },
  view_only: {
    status: 403,
    message: "You view this account as an operator and cannot change it; use the pages for operators."
  },
  key_budget_fixed: {
    status: 403,
    message: "An operator has set this limit of the key; set at most details.limit, or ask your operator.",
    details: {
      budget: field(
        Schema.Literals(["credits_per_day", "credits_per_month", "jobs_per_day", "jobs_per_month"]),
        "The limit that an operator has set."
      ),
      limit: int("The highest value that a member can set.")
    }
  },
  session_not_allowed: {
    status: 403,
    message: "The session does not permit this request; sign in with a link of a member who may do this.",
    details: { access: field(ConsoleAccess, "What the session must permit.") }
  }
} as const satisfies Readonly<Record<string, ErrorDefinition>>
