/**
 * The error codes of the API. One table defines each code: its status, its message, its
 * details, and whether a retry can help. The error schemas, the OpenAPI documents and
 * the reference documentation derive from it.
 */
import type { Schema } from "effect"
import { clientErrors } from "./internal/clientErrors.ts"
import { consoleErrors } from "./internal/consoleErrors.ts"
import type { ErrorDefinition } from "./internal/ErrorDefinition.ts"
import { operatorErrors, UrlProblem } from "./internal/operatorErrors.ts"
import type { Plan } from "./Scalar.ts"

export { type ErrorDefinition, UrlProblem }

/** The codes that clients receive. Operators receive them too. */
export const table = clientErrors

/** The codes that only operators receive. */
export const operatorTable = operatorErrors

/** The codes that only sessions of the console receive. */
export const consoleTable = consoleErrors

/** Every code. */
export const definitions = { ...clientErrors, ...operatorErrors, ...consoleErrors }

/** A code that clients receive. */
export type ErrorCode = keyof typeof table

/** Any code. */
export type AnyErrorCode = keyof typeof definitions

/** The definition of a code. */
export type DefinitionOf<Code extends AnyErrorCode> = (typeof definitions)[Code]

/** The `details` of a code. */
export type Details<Code extends AnyErrorCode> = DefinitionOf<Code> extends
  { readonly details: infer Fields extends Schema.Struct.Fields } ? Schema.Struct.Type<Fields> : {}

/** The plan group of a code: always named, sometimes named, or `null`. */
export type PlanOf<Code extends AnyErrorCode> = DefinitionOf<Code> extends { readonly plan: infer Named }
  ? Named extends "always" ? Plan : Plan | null
  : null

/** The codes that the client can retry after a wait. */
export type RetryableCode = {
  [Code in AnyErrorCode]: DefinitionOf<Code> extends { readonly retry: "after" } ? Code : never
}[AnyErrorCode]

/** The definition of a code with every property that the table may omit. */
export const definitionOf = (code: AnyErrorCode): ErrorDefinition => definitions[code]
