/** The tests that prove the statements of `docs/reference/console-api.md`. */
import { type Proof, test } from "./Proof.ts"

const signIn = test("http-server/test/SignIn.test.ts")
const sessions = test("http-server/test/Sessions.test.ts")
const account = test("http-server/test/ConsoleAccount.test.ts")
const events = account("streams the changes of all jobs of the account, from the last event on, for a limited time")
const pages = test("http-server/test/ConsolePages.test.ts")
const operators = test("http-server/test/OperatorSessions.test.ts")
const store = test("sessions/test/SessionsContract.ts")
const codes = test("sessions/test/CodesContract.ts")

/** Rows of the tables of operations, which are generated. */
const operations = { "| ": test("hosting/test/docs/apiOperations.test.ts")("lists every operation of the console API") }

/** By the anchor of the section and the beginning of the statement. Statements without a test introduce others. */
export const consoleApi: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<Proof>>>>> = {
  "console-api": { "The contract of": [] },
  "access": {
    "The API is on": [
      ...operators("serves the console on a listener for operators alone"),
      ...sessions("without the console, knows none of its paths")
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
      ...operators("gives operators their role in /admin/v1, and records changes under their id")
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
    "- If the console is not built": pages("says how to build the console if it is not built")
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
    ]
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
    "- Sign-ins and sign-outs": signIn("records the sign-ins and sign-outs of operators")
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
  "api-keys": {
    ...operations,
    "- Members manage the keys": [
      ...account("creates, rolls, lists and revokes the keys of the account"),
      ...account("lets only members change keys and webhooks, and says so")
    ]
  },
  "webhooks": {
    ...operations,
    "- Members manage the webhook endpoints": [
      ...account("manages the webhook endpoints of the account"),
      ...account("lets only members change keys and webhooks, and says so")
    ]
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
