/** Constructors of the endpoints of the operator API. */
import type { AnyErrorCode } from "../ErrorCode.ts"
import * as Policy from "../RequestPolicy.ts"
import { bodyErrors } from "./errorCodes.ts"
import { type Annotatable, type Errors, operation } from "./operation.ts"

/** An endpoint without a body. `role` is the role that an operator needs: `auditor` for all reads. */
export const operate = <const Codes extends ReadonlyArray<AnyErrorCode>, Endpoint extends Annotatable>(
  role: Policy.OperatorRole,
  summary: string,
  description: string | undefined,
  codes: Codes,
  make: (error: Errors<Codes>) => Endpoint
): Endpoint => operation({ policy: Policy.operating(role), errors: codes, summary, description }, make)

/** `operate` with a JSON body. */
export const configure = <const Codes extends ReadonlyArray<AnyErrorCode>, Endpoint extends Annotatable>(
  role: Policy.OperatorRole,
  summary: string,
  description: string,
  codes: Codes,
  make: (error: Errors<readonly [...Codes, ...typeof bodyErrors]>) => Endpoint
): Endpoint =>
  operation({ policy: Policy.configuring(role), errors: [...codes, ...bodyErrors], summary, description }, make)
