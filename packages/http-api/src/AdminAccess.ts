/** How an operator's request shows its right. Implemented by the server. */
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { ServiceUnavailableResponse, TooManyRequestsResponse, UnauthorizedResponse } from "./ApiError.ts"

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "The operator's token, `Authorization: Bearer <KINORA_ADMIN_TOKEN>`.")
)

/** The operator's token (D50). A wrong one counts as a failed authentication of its address (D28). */
export class AdminAuth extends HttpApiMiddleware.Service<AdminAuth>()("@kinora/http-api/AdminAuth", {
  security: { bearer },
  error: [UnauthorizedResponse, TooManyRequestsResponse, ServiceUnavailableResponse],
  requiredForClient: true
}) {}
