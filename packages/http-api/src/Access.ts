/** Authentication of requests, and the errors that every endpoint can respond with. Servers implement it. */
import { Context, type DateTime } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { SessionRole, SessionScope } from "./ConsoleSession.ts"
import { authenticationErrors, schemaErrors } from "./internal/errorCodes.ts"
import { errors } from "./internal/errorResponses.ts"
import type { OperatorRole } from "./RequestPolicy.ts"

/** The account and the API key of a request. */
export class CurrentKey extends Context.Service<CurrentKey, {
  /** The id of the account. */
  readonly account: string
  /** The id of the key, not the key itself; the id of the session if it was not created with a key. */
  readonly key: string
}>()("@kinora/http-api/CurrentKey") {}

/** The account whose files a content request may read. */
export class ContentReader extends Context.Service<ContentReader, {
  /** `undefined` if a signed URL authenticated the request. */
  readonly account: string | undefined
  /**
   * When the signed URL expired, if it has. Its request can read nothing, but the response is
   * `result_expired` if the result was deleted, otherwise `signature_expired`.
   */
  readonly expiredAt: DateTime.Utc | undefined
}>()("@kinora/http-api/ContentReader") {}

/** The operator of a request. */
export class CurrentOperator extends Context.Service<CurrentOperator, {
  /** The id of the operator, or `owner` for `KINORA_ADMIN_TOKEN`. */
  readonly actor: string
  readonly role: OperatorRole
}>()("@kinora/http-api/CurrentOperator") {}

/** The session of a request of the console. */
export class CurrentConsoleSession extends Context.Service<CurrentConsoleSession, {
  /** The id of the session. */
  readonly id: string
  readonly scope: SessionScope
  readonly role: SessionRole
  /** The id of the account. `undefined` if the session is of an operator. */
  readonly account: string | undefined
  /** The id of the API key that the session was created with, if it was created with one. */
  readonly key: string | undefined
  /** The id of the operator, or `owner`. `undefined` if the session is of an account. */
  readonly operator: string | undefined
}>()("@kinora/http-api/CurrentConsoleSession") {}

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "An API key of the account: `Authorization: Bearer <key>`.")
)

const signed = HttpApiSecurity.apiKey({ in: "query", key: "sig" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "The parameters `exp` and `sig` of a signed URL, such as `output.url`.")
)

const operator = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "`KINORA_ADMIN_TOKEN`, or the token of an operator: `Authorization: Bearer <token>`."
  )
)

const session = HttpApiSecurity.apiKey({ in: "cookie", key: "__Host-kinora" }).pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "The cookie that `POST /console/v1/session` sets. On plain HTTP its name is `kinora_<port>`."
  )
)

/** Requires a valid API key, or the cookie of a session that permits the endpoint, within its rate limit. */
export class BearerAuth extends HttpApiMiddleware.Service<BearerAuth, { provides: CurrentKey }>()(
  "@kinora/http-api/BearerAuth",
  {
    security: { bearer },
    error: errors(...authenticationErrors.key, "cross_origin", "view_only"),
    requiredForClient: true
  }
) {}

/** Requires a valid API key, a session or a valid signed URL. */
export class ContentAuth extends HttpApiMiddleware.Service<ContentAuth, { provides: ContentReader }>()(
  "@kinora/http-api/ContentAuth",
  {
    security: { bearer, signed },
    error: errors(...authenticationErrors.link, "cross_origin", "view_only"),
    requiredForClient: true
  }
) {}

/**
 * Requires the token or the session of an operator whose role permits the endpoint. A wrong token counts as a failed
 * authentication of the address.
 */
export class AdminAuth extends HttpApiMiddleware.Service<AdminAuth, { provides: CurrentOperator }>()(
  "@kinora/http-api/AdminAuth",
  {
    security: { bearer: operator },
    error: errors(...authenticationErrors.operator, "role_missing", "cross_origin"),
    requiredForClient: true
  }
) {}

/** Requires the cookie of a session that permits the endpoint, within the rate limit of the session. */
export class ConsoleAuth extends HttpApiMiddleware.Service<ConsoleAuth, { provides: CurrentConsoleSession }>()(
  "@kinora/http-api/ConsoleAuth",
  { security: { session }, error: errors(...authenticationErrors.session, "cross_origin"), requiredForClient: true }
) {}

/**
 * `ConsoleAuth`, or an API key with the scope of the endpoint, within its rate limit. A session that was created with an
 * API key needs the scope too.
 */
export class ConsoleKeyAuth extends HttpApiMiddleware.Service<ConsoleKeyAuth>()(
  "@kinora/http-api/ConsoleKeyAuth",
  {
    security: { bearer, session },
    error: errors(...authenticationErrors.keyOrSession, "cross_origin"),
    requiredForClient: true
  }
) {}

/** Requires that changes come from a page of this server. For endpoints of the console that need no session. */
export class SameOrigin extends HttpApiMiddleware.Service<SameOrigin>()("@kinora/http-api/SameOrigin", {
  error: errors("cross_origin")
}) {}

/** Maps schema errors to the error envelope: 400 for a request, 500 for a response. */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("@kinora/http-api/Envelope", {
  error: errors(...schemaErrors)
}) {}
