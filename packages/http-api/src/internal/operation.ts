/** The constructor of endpoints: policy, errors and documentation in one place. */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { AnyErrorCode } from "../ErrorCode.ts"
import { type Policy, RequestPolicy } from "../RequestPolicy.ts"
import { completeOperation } from "./completeOperation.ts"
import { errors } from "./errorResponses.ts"

/** The schemas of the errors with these codes, as endpoints take them. */
export type Errors<Codes extends ReadonlyArray<AnyErrorCode>> = ReturnType<typeof errors<Codes>>

/** An endpoint of any type. */
export interface Annotatable {
  annotateMerge<I>(annotations: Context.Context<I>): unknown
}

/** The declarations of an endpoint besides its schemas. */
export interface About<Codes extends ReadonlyArray<AnyErrorCode>> {
  readonly policy: Policy
  /** The codes that the endpoint responds with, besides those of its authentication and of its schemas. */
  readonly errors?: Codes
  /** Codes that middleware of the endpoint responds with, but its handler does not. */
  readonly more?: ReadonlyArray<AnyErrorCode>
  readonly summary: string
  readonly description?: string | undefined
}

/** Makes an endpoint with these errors, and annotates it with its policy and its documentation. */
export const operation = <Endpoint extends Annotatable, const Codes extends ReadonlyArray<AnyErrorCode> = readonly []>(
  { description, errors: own, more = [], policy, summary }: About<Codes>,
  make: (error: Errors<Codes>) => Endpoint
): Endpoint => {
  const codes = [...(own ?? []), ...more]
  const annotations = OpenApi.annotations({
    summary,
    description,
    transform: (operation) => completeOperation(operation as OpenApi.OpenAPISpecOperation, policy, codes)
  })
  // Without codes, `Codes` is empty, and it does not name those of middleware. Annotations do not change the type of an
  // endpoint.
  return make(errors(...codes) as Errors<Codes>)
    .annotateMerge(Context.add(annotations, RequestPolicy, policy)) as Endpoint
}
