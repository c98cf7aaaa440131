/** The tests that prove the statements of `docs/reference/console-api.md`. */
import { type Proof, test } from "./Proof.ts"

const signIn = test("http-server/test/SignIn.test.ts")
const failures = test("http-server/test/FailedSignIns.test.ts")
const sessions = test("http-server/test/Sessions.test.ts")
const account = test("http-server/test/ConsoleAccount.test.ts")
const events = account("streams the changes of all jobs of the account, from the last event on, for a limited time")
const pages = test("http-server/test/ConsolePages.test.ts")
const operators = test("http-server/test/OperatorSessions.test.ts")
const store = test("sessions/test/SessionsContract.ts")
const codes = test("sessions/test/CodesContract.ts")

const members = test("http-server/test/Members.test.ts")
const people = test("http-server/test/People.test.ts")
const providers = test("http-server/test/ProviderSignIn.test.ts")
const proxy = test("http-server/test/ProxySignIn.test.ts")
const views = test("http-server/test/Views.test.ts")
const waits = test("http-server/test/SessionWaits.integration.test.ts")
const oidc = test("hosting/test/Oidc.test.ts")
const idTokens = test("oidc/test/IdTokens.test.ts")
const memberStore = test("sessions/test/MembersContract.ts")

/** Rows of the tables of operations, which are generated. */
const operations = { "| ": test("hosting/test/docs/apiOperations.test.ts")("lists every operation of the console API") }

/** By the anchor of the section and the beginning of the statement. Statements without a test introduce others. */
export const consoleApi: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<Proof>>>>> = {
  "console-api": { "The contract of": [] },
  "access": {
    "The API is on": [
      ...operators("serves the console on a listener for operators alone"),
      ...sessions("without the console, has none of its paths")
    ],
    "A session has the rights": [],
    "| ": [
      ...signIn("signs in with an API key, whose rights and expiry the session has"),
      ...sessions("gives members the rights of the account in /v1, and viewers only its reads"),
      ...operators("gives operators their role in /admin/v1")
    ],
    "- Every operation except": [
      ...sessions(
        "rejects requests without a session on every route of the console",
        "permits each kind of session exactly the routes of the console that it may use"
      ),
      ...test("http-server/test/ConsoleAccess.test.ts")("permits each endpoint to the sessions that have its access")
    ],
    "- `/v1` and `/admin/v1` accept": [
      ...sessions("does not ask programs with a key for the page they come from"),
      ...operators("gives operators their role in /admin/v1, and records changes under their id"),
      ...members("records the changes of members to keys, webhooks and sessions")
    ],
    "- A session of an account counts": sessions("counts requests per session"),
    "- [Errors]": test("hosting/test/docs/errors.test.ts")("lists every code")
  },
  "pages": {
    "The pages of the console are": [
      ...pages("leads browsers at / to the console, and programs to the documentation"),
      ...operators("serves the console on a listener for operators alone")
    ],
    "- Every path below": pages("serves the page on every path of the console without an extension"),
    "- The files are read": pages("serves files that browsers keep, encoded as they accept"),
    "- `Content-Security-Policy`": pages("serves the page on every path of the console without an extension"),
    "- If `KINORA_BASE_URL` is set": pages(
      "leads browsers from another origin to that of the base URL, once, and keeps the path",
      "does not lead browsers away without a base URL, and between the names of this machine"
    ),
    "- If the console is not built": pages("explains how to build the console if it is not built")
  },
  "cookie": {
    "- On HTTPS": signIn("sets a cookie that scripts and other sites cannot use"),
    "- Its value": [
      ...signIn("never adopts a token that was planted before a sign-in"),
      ...test("sessions/test/SqlSessionStore.integration.test.ts")("stores nothing of a token or a code")
    ]
  },
  "changes-from-other-pages": {
    "- A request other than": [
      ...sessions(
        "rejects changes from other pages with a session, and without one at sign-in",
        "does not ask programs with a key for the page they come from"
      ),
      ...operators("rejects changes of operators from other pages")
    ],
    "- On HTTPS": signIn("sets a cookie that scripts and other sites cannot use")
  },
  "sign-in-and-out": {
    ...operations,
    "- A sign-in has": signIn(
      "signs in with a link once, shows the session, and signs out",
      "rejects the sign-in with a key that does not work, from this address or at all"
    ),
    "- A code starts": [
      ...signIn(
        "starts one session if a code is used twice at the same time",
        "leaves the code of an account that was suspended meanwhile unused"
      ),
      ...codes("start one session if they are redeemed concurrently", "are rejected from their expiry on")
    ],
    "- Failed sign-ins count": signIn("counts failed sign-ins of an address"),
    "- `GET` returns": sessions("ends a session without use after 12 hours, which showing it does not prolong"),
    "- `DELETE` ends": signIn("signs in with a link once, shows the session, and signs out"),
    "- Sign-ins, failed sign-ins": [
      ...signIn("records the sign-ins and sign-outs of operators, of links and of keys"),
      ...providers("records sign-ins, sign-outs and failed sign-ins"),
      ...failures(
        "records the first failed sign-in of an address with each method and reason in an hour",
        "records at most one failed sign-in of a kind in an hour for each /48 of IPv6, and 1,000 in all",
        "records each person without an account whom the proxy or a provider has authenticated once in an hour"
      ),
      ...providers("counts failed sign-ins of an address, but no outage of the provider")
    ]
  },
  "identity-providers": {
    ...operations,
    "- `GET /console/v1/sign-in` returns": providers("lists the providers, and none without a configuration"),
    "- `GET /console/v1/sign-in/oidc/": providers(
      "signs a person in to the account with the same verified address, and opens the page",
      "opens only pages of the console afterwards",
      "gives every sign-in another state, nonce and verifier"
    ),
    "- The provider sends the browser": [
      ...providers(
        "rejects a response with another state, in another browser, of another provider, or twice",
        "rejects a response after 10 minutes"
      ),
      ...oidc("accepts the response of a provider once, and only in the browser that has begun the sign-in"),
      ...idTokens("rejects ID tokens of another audience, issuer, sign-in, time or key")
    ],
    "- A successful sign-in": [
      ...providers("signs a person in to the account with the same verified address, and opens the page"),
      ...test("acceptance/test/oidcBrowser.test.ts")("the first page after the provider has the session")
    ],
    "- A failed sign-in leads": [
      ...providers(
        "leads to the sign-in page with the reason of a failure",
        "counts failed sign-ins of an address, but no outage of the provider"
      ),
      ...oidc("leads to the sign-in page with the reason if a sign-in fails")
    ],
    "- A person is known": people(
      "adds a person to the account once, and ends the session when the member is removed",
      "keeps people of different providers apart",
      "finds a member by the identity when the address has changed",
      "turns an invitation into a member of the role that was invited"
    ),
    "- For the accounts that": people(
      "makes groups determine who is a member of the accounts that they name, at each sign-in"
    ),
    "- A person of several accounts": people("prefers the account with the person's address"),
    "- A group with the role": people(
      "gives people of a group a session of an operator, who is named in the audit log",
      "gives no session of an operator on a listener without the operator API"
    )
  },
  "trusted-proxy": {
    "- If `proxy_user_header`": proxy(
      "signs in the person whom a trusted proxy names, as a member of the account",
      "rejects a person without an account, and a page of another site"
    ),
    "- The header counts only": proxy(
      "ignores the header from all other addresses, also from a client that a proxy has forwarded",
      "ignores the header unless it is configured, with the proxies that may send it",
      "rejects a header that is sent twice, or that is not an e-mail address"
    )
  },
  "sessions": {
    ...operations,
    "- A session ends": [
      ...store("end after the idle time unless they are used", "end at their maximum age although they are used"),
      ...store("record a use at most once a minute", "of operators end earlier")
    ],
    "- A session with an API key": [
      ...sessions(
        "ends the sessions of a revoked key and of a suspended account, also after it is resumed",
        "ends the event streams of a session within 5 seconds after its end"
      ),
      ...waits("ends the waits and event streams of a session that is signed out, removed, revoked"),
      ...operators(
        "ends the sessions of an operator that is revoked or expires",
        "ends the sessions of KINORA_ADMIN_TOKEN"
      )
    ],
    "- A session of a member": [
      ...sessions("lists and ends sessions: one, all others, and none of other accounts"),
      ...store("are listed and ended within their reach only", "end with sign-out, with all others")
    ],
    "- An API key, a role": store("never exceed sessionsMax of a subject")
  },
  "members": {
    ...operations,
    "- Members manage the members": members(
      "invites a person with a link, lists the members, changes the role, and removes a member",
      "never shows or changes members of another account, and none to API keys and operators"
    ),
    "- An invitation has": members(
      "invites a person with a link, lists the members, changes the role, and removes a member",
      "has at most 100 members and 20 unused links of one"
    ),
    "- A member has": members("is the same member after the first sign-in with an identity provider"),
    "- `PATCH` changes": [
      ...members("records who created a key, and revokes the keys of a removed member if asked"),
      ...memberStore(
        "lose their sessions with a change of their role and with their removal",
        "lose their sign-in links with a change of their role and with their removal"
      )
    ]
  },
  "api-keys": {
    ...operations,
    "- Members manage the keys": [
      ...account("creates, rolls, lists and revokes the keys of the account"),
      ...account("permits only members to change keys and webhooks")
    ],
    "- A member who would exceed": account("members rename keys, and do not exceed or remove the limits")
  },
  "webhooks": {
    ...operations,
    "- Members manage the webhook endpoints": [
      ...account("manages the webhook endpoints of the account"),
      ...account("permits only members to change keys and webhooks")
    ],
    "- A delivery with its body": account("manages the webhook endpoints of the account"),
    "- `resend-failed` sends": [
      ...account("manages the webhook endpoints of the account"),
      ...test("webhooks/src/internal/contract/restarts.ts")(
        "resends the failed deliveries of an endpoint since a time, oldest first"
      )
    ]
  },
  "view-an-account": {
    ...operations,
    "- A session of an operator": views("an operator reads an account like a viewer, and can change nothing of it"),
    "- A view ends after": views("a view ends by itself, when it is ended, with the session, and with the account"),
    "- `POST` returns": views("refuses views to auditors and to accounts, and of accounts that are not active"),
    "- Starts and ends": views("a view ends by itself, when it is ended, with the session, and with the account")
  },
  "reports": {
    ...operations,
    "- The summary has": account("reports the statement, the summary and the activity of jobs of the account only"),
    "- The statement is": account("reports the statement, the summary and the activity of jobs of the account only"),
    "- The activity of": account("reports the statement, the summary and the activity of jobs of the account only")
  },
  "events": {
    "`GET /console/v1/events`": events,
    "- The stream begins": events,
    "- If two changes": test("generations/test/AccountChangesContract.ts")(
      "reach a slow reader, who skips states but not the last one",
      "begin with what a reader missed who was disconnected"
    ),
    "- The stream ends": events
  }
}
