/** Sessions of the console. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { field, flag, list, nullable, object, text, time } from "./internal/fields.ts"

/**
 * Kind of a session. `key`: of an account, with the rights of the API key that it was created with. `account`: of a member
 * of an account. `operator`: an operator.
 */
export const SessionScope = Schema.Literals(["key", "account", "operator"])
/** See the schema of the same name. */
export type SessionScope = typeof SessionScope.Type

/** The role of a session: of a member of an account, or of an operator. A session with an API key has the role `member`. */
export const SessionRole = Schema.Literals(["viewer", "member", "auditor", "support", "operator", "owner"])
/** See the schema of the same name. */
export type SessionRole = typeof SessionRole.Type

/** Signs in with the code of a sign-in link. */
export const SignInWithCode = object("SignInWithCode", "Signs in with a sign-in link.", {
  code: field(Schema.String.check(Schema.isBetweenLength(1, 256)), "The code of the link: the text after `#code=`.")
})

/** Signs in with an API key. */
export const SignInWithKey = object("SignInWithKey", "Signs in with an API key.", {
  api_key: field(
    Schema.String.check(Schema.isBetweenLength(1, 256)),
    "The key. The session has its rights, and ends with it."
  )
})

/** Signs in the person whom the proxy in front has authenticated. */
export const SignInWithProxy = object(
  "SignInWithProxy",
  "Signs in the person whom the proxy in front has authenticated.",
  {
    proxy: field(
      Schema.Literal(true),
      "Always `true`. The proxy sends the e-mail address in the header of the settings."
    )
  }
)

/** Signs in. */
export const SignInRequest = Schema.Union([SignInWithCode, SignInWithKey, SignInWithProxy]).annotate({
  identifier: "SignInRequest",
  description: "The code of a sign-in link, an API key, or the person of the proxy in front."
})
/** See the schema of the same name. */
export type SignInRequest = typeof SignInRequest.Type

/** The response to a sign-in. */
export const SignedIn = HttpApiSchema.WithHeaders(HttpApiSchema.NoContent, { "set-cookie": Schema.String })

/** The response to a sign-out. */
export const SignedOut = HttpApiSchema.WithHeaders(HttpApiSchema.NoContent, {
  "set-cookie": Schema.String,
  "clear-site-data": Schema.Literal("\"cache\"")
})

/** The account of a session. */
export const SessionAccount = object("SessionAccount", "The account of a session.", {
  id: text("The id of the account, `acct_…`."),
  email: nullable(Schema.String, "The e-mail address of the account.")
})

/** Views an account. */
export const StartViewRequest = object("StartViewRequest", "The account to view.", {
  account: text("The id of the account, `acct_…`.")
})

/** The account that an operator views. */
export const SessionView = object("SessionView", "The account that an operator views.", {
  account: field(SessionAccount, "The account."),
  until: time("When the view ends.")
})

const scope = field(SessionScope, "`key` if the session was created with an API key.")
const createdAt = time("When the session was created.")
const expiresAt = time("When the session ends, even if it is used.")

/** The member of an account whose session it is. */
export const SessionMember = object("SessionMember", "The member of the account whose session it is.", {
  id: text("The id of the member, `mem_…`."),
  email: text("The e-mail address of the member.")
})

/** The session of the request. */
export const ConsoleSession = object("ConsoleSession", "The session of the request.", {
  id: text("The id of the session, `ses_…`."),
  scope,
  role: field(SessionRole, "The role of the member or of the operator."),
  account: nullable(SessionAccount, "The account; `null` for operators."),
  view: nullable(SessionView, "The account that the operator views; `null` for none, and for sessions of accounts."),
  member: nullable(
    SessionMember,
    "The member; `null` for operators, and with a sign-in link of an account or an API key."
  ),
  name: nullable(Schema.String, "The name of the API key, of the member or of the operator, if it has one."),
  created_at: createdAt,
  expires_at: expiresAt,
  idle_expires_at: time("When the session ends unless it is used before.")
})
/** See the schema of the same name. */
export type ConsoleSession = typeof ConsoleSession.Type

/** A session in the list of sessions. */
export const ListedSession = object("ListedSession", "A session.", {
  id: text("The id of the session, `ses_…`."),
  scope,
  device: nullable(Schema.String, "The `User-Agent` of the sign-in, at most 256 characters."),
  address: text("The network address of the sign-in."),
  created_at: createdAt,
  seen_at: time("When the session was last used, accurate to a minute."),
  expires_at: expiresAt,
  current: flag("Whether this is the session of the request.")
})
/** See the schema of the same name. */
export type ListedSession = typeof ListedSession.Type

/** The sessions of one account, key or operator. */
export const SessionList = object("SessionList", "The sessions that the session of the request can end.", {
  data: list(ListedSession, "The sessions, the one that was used last first.")
})
