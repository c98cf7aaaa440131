/** Constructors of the endpoints of the console. */
import type { AnyErrorCode } from "../ErrorCode.ts"
import type { Policy } from "../RequestPolicy.ts"
import { bodyErrors } from "./errorCodes.ts"
import { type Annotatable, type Errors, operation } from "./operation.ts"

/** The codes of middleware with which changes respond. */
export const changeErrors = ["cross_origin"] as const

/** An endpoint that changes nothing. */
export const browse = <const Codes extends ReadonlyArray<AnyErrorCode>, Endpoint extends Annotatable>(
  policy: Policy,
  summary: string,
  description: string | undefined,
  codes: Codes,
  make: (error: Errors<Codes>) => Endpoint
): Endpoint => operation({ policy, errors: codes, summary, description }, make)

/** An endpoint that changes something and has no body. Only pages of this server can call it. */
export const alter = <const Codes extends ReadonlyArray<AnyErrorCode>, Endpoint extends Annotatable>(
  policy: Policy,
  summary: string,
  description: string | undefined,
  codes: Codes,
  make: (error: Errors<Codes>) => Endpoint
): Endpoint => operation({ policy, errors: codes, more: changeErrors, summary, description }, make)

/** `alter` with a JSON body. */
export const submit = <const Codes extends ReadonlyArray<AnyErrorCode>, Endpoint extends Annotatable>(
  policy: Policy,
  summary: string,
  description: string | undefined,
  codes: Codes,
  make: (error: Errors<readonly [...Codes, ...typeof bodyErrors]>) => Endpoint
): Endpoint =>
  operation({
    policy: { ...policy, body: "json" },
    errors: [...codes, ...bodyErrors],
    more: changeErrors,
    summary,
    description
  }, make)
