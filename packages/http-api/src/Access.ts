/** How a request shows its right, and what every endpoint can answer. Implemented by the server. */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import {
  BadRequestResponse,
  ForbiddenResponse,
  InternalServerErrorResponse,
  ServiceUnavailableResponse,
  TooManyRequestsResponse,
  UnauthorizedResponse
} from "./ApiError.ts"

/** The account and key that a request acts for. */
export class CurrentKey extends Context.Service<CurrentKey, {
  /** Account id. */
  readonly account: string
  /** Id of the key's record; never the key. */
  readonly key: string
}>()("@kinora/http-api/CurrentKey") {}

/** Whose file a content request may read. */
export class ContentReader extends Context.Service<ContentReader, {
  /** Absent when the caller proved its right by a signed URL. */
  readonly account: string | undefined
}>()("@kinora/http-api/ContentReader") {}

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "An API key of the account, `Authorization: Bearer <key>`.")
)

const signed = HttpApiSecurity.apiKey({ in: "query", key: "sig" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "The pair `exp` and `sig` of a signed URL, as in `output.url`.")
)

/** A valid API key within its limit of requests per minute. */
export class BearerAuth extends HttpApiMiddleware.Service<BearerAuth, { provides: CurrentKey }>()(
  "@kinora/http-api/BearerAuth",
  {
    security: { bearer },
    error: [UnauthorizedResponse, ForbiddenResponse, TooManyRequestsResponse, ServiceUnavailableResponse],
    requiredForClient: true
  }
) {}

/** A valid API key, or a valid signed pair. Either being good is enough (D32). */
export class ContentAuth extends HttpApiMiddleware.Service<ContentAuth, { provides: ContentReader }>()(
  "@kinora/http-api/ContentAuth",
  {
    security: { bearer, signed },
    error: [
      BadRequestResponse,
      UnauthorizedResponse,
      ForbiddenResponse,
      TooManyRequestsResponse,
      ServiceUnavailableResponse
    ],
    requiredForClient: true
  }
) {}

/** Gives what does not fit the schemas its envelope: a wrong request is 400, a wrong response 500 (D42). */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("@kinora/http-api/Envelope", {
  error: [BadRequestResponse, InternalServerErrorResponse]
}) {}
