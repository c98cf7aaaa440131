/** Authentication of requests, and the errors that every endpoint can respond with. Servers implement it. */
import { Context, type DateTime } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { authenticationErrors, schemaErrors } from "./internal/errorCodes.ts"
import { errors } from "./internal/errorResponses.ts"

/** The account and the API key of a request. */
export class CurrentKey extends Context.Service<CurrentKey, {
  /** The id of the account. */
  readonly account: string
  /** The id of the key. Not the key itself. */
  readonly key: string
}>()("@kinora/http-api/CurrentKey") {}

/** The account whose files a content request may read. */
export class ContentReader extends Context.Service<ContentReader, {
  /** `undefined` if a signed URL authenticated the request. */
  readonly account: string | undefined
  /**
   * When the signed URL expired, if it has. Its request can read nothing, but the response is
   * `result_expired` if the result is gone, otherwise `signature_expired`.
   */
  readonly expiredAt: DateTime.Utc | undefined
}>()("@kinora/http-api/ContentReader") {}

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "An API key of the account: `Authorization: Bearer <key>`.")
)

const signed = HttpApiSecurity.apiKey({ in: "query", key: "sig" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "The parameters `exp` and `sig` of a signed URL, such as `output.url`.")
)

const operator = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "The token of the operator: `Authorization: Bearer <KINORA_ADMIN_TOKEN>`."
  )
)

/** Requires a valid API key within its rate limit. */
export class BearerAuth extends HttpApiMiddleware.Service<BearerAuth, { provides: CurrentKey }>()(
  "@kinora/http-api/BearerAuth",
  { security: { bearer }, error: errors(...authenticationErrors.key), requiredForClient: true }
) {}

/** Requires a valid API key or a valid signed URL. */
export class ContentAuth extends HttpApiMiddleware.Service<ContentAuth, { provides: ContentReader }>()(
  "@kinora/http-api/ContentAuth",
  { security: { bearer, signed }, error: errors(...authenticationErrors.link), requiredForClient: true }
) {}

/** Requires the operator's token. A wrong token counts as a failed authentication of the address. */
export class AdminAuth extends HttpApiMiddleware.Service<AdminAuth>()("@kinora/http-api/AdminAuth", {
  security: { bearer: operator },
  error: errors(...authenticationErrors.operator),
  requiredForClient: true
}) {}

/** Maps schema errors to the error envelope: 400 for a request, 500 for a response. */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("@kinora/http-api/Envelope", {
  error: errors(...schemaErrors)
}) {}
