/** The API of the console: what people need besides `/v1` and `/admin/v1`. Sessions authenticate it. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConsoleAuth, Envelope, SameOrigin } from "./Access.ts"
import { ConsoleKeys, ConsoleReports } from "./ConsoleAccountApi.ts"
import { ConsoleMembers } from "./ConsoleMemberApi.ts"
import { ConsoleSession, SessionList, SignedIn, SignedOut, SignInRequest } from "./ConsoleSession.ts"
import { ConsoleSignIn } from "./ConsoleSignInApi.ts"
import { ConsoleViews } from "./ConsoleViewApi.ts"
import { ConsoleWebhooks } from "./ConsoleWebhookApi.ts"
import { alter, browse, submit } from "./internal/consoleOperation.ts"
import { documentation, strictParsing } from "./internal/documentation.ts"
import { authenticationErrors } from "./internal/errorCodes.ts"
import { parameter } from "./internal/fields.ts"
import { completeAdmin } from "./internal/openApi.ts"
import * as Policy from "./RequestPolicy.ts"

/** Signs in, shows the session, and signs out. */
export class ConsoleSessionGroup extends HttpApiGroup.make("session").add(
  submit(
    Policy.signingIn,
    "Sign in",
    "Starts a session and sets its cookie. It replaces the session of the request, if there is one. A code can be used " +
      "once. Failed attempts count against the limit of the address.",
    authenticationErrors.credential,
    (error) => HttpApiEndpoint.post("signIn", "/session", { payload: SignInRequest, success: SignedIn, error })
  ),
  browse(
    Policy.open,
    "Get the session",
    "Responds with `null` without a session. Does not count as a use of the session.",
    ["unavailable"],
    (error) => HttpApiEndpoint.get("getSession", "/session", { success: Schema.NullOr(ConsoleSession), error })
  ),
  alter(
    Policy.open,
    "Sign out",
    "Ends the session of the request, if there is one, and removes its cookie.",
    ["unavailable"],
    (error) => HttpApiEndpoint.delete("signOut", "/session", { success: SignedOut, error })
  )
).middleware(SameOrigin).annotate(OpenApi.Description, "Sign in, show the session, and sign out.") {}

/** Lists and ends sessions. */
export class ConsoleSessions extends HttpApiGroup.make("sessions").add(
  browse(
    Policy.browsing("any"),
    "List the sessions",
    "The sessions of the same member, API key or operator.",
    [],
    (error) => HttpApiEndpoint.get("listSessions", "/sessions", { success: SessionList, error })
  ),
  alter(
    Policy.browsing("any"),
    "End all other sessions",
    "Ends the sessions of the list except the one of the request. Idempotent.",
    [],
    (error) => HttpApiEndpoint.delete("endOtherSessions", "/sessions", { success: HttpApiSchema.NoContent, error })
  ),
  alter(
    Policy.browsing("any"),
    "End a session",
    "Its cookie is rejected on every server at once.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("endSession", "/sessions/:id", {
        params: { id: parameter("The id of the session, `ses_…`.") },
        success: HttpApiSchema.NoContent,
        error
      })
  )
).middleware(ConsoleAuth).annotate(OpenApi.Description, "List and end sessions.") {}

/** The API of the console. */
export class ConsoleApi extends HttpApi.make("kinora-console")
  .add(ConsoleSessionGroup)
  .add(ConsoleSignIn)
  .add(ConsoleSessions)
  .add(ConsoleMembers)
  .add(ConsoleKeys)
  .add(ConsoleWebhooks)
  .add(ConsoleReports)
  .add(ConsoleViews)
  .middleware(Envelope)
  .prefix("/console/v1")
  .annotateMerge(strictParsing)
  .annotateMerge(documentation(
    "Kinora for the console",
    "Sessions of people, and what the console needs besides the API for programs. Every operation except those of " +
      "`/console/v1/session` and `/console/v1/sign-in` requires a session. Requests other than GET and HEAD must come from a page of the same " +
      "origin; others get 403 `cross_origin`. If `KINORA_CONSOLE` is `false`, every path responds with 404 `not_found`.",
    completeAdmin
  ))
{}
