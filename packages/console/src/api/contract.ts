/** All routes that the console calls, with the types of their requests and responses. */
import type { ConsoleRoutes } from "./consoleContract.ts"
import type { InferredRequest, InferredResponse, InferredRoute } from "./inferred.ts"

/** A route, such as `GET /admin/v1/accounts/:id/keys`. */
export type Route = InferredRoute | keyof ConsoleRoutes

/** The parameters, query and body of a request. */
export type RequestOf<R extends Route> = R extends keyof ConsoleRoutes ? Omit<ConsoleRoutes[R], "success">
  : R extends InferredRoute ? InferredRequest<R>
  : never

/** The body of the successful response. */
export type ResponseOf<R extends Route> = R extends keyof ConsoleRoutes ? ConsoleRoutes[R]["success"]
  : R extends InferredRoute ? InferredResponse<R>
  : never
