/** Refusals of services as errors of JavaScript. */
import type { Cause } from "effect"
import { type Plain, toPlain } from "./plain.ts"

/** The part of a refusal that its error has as fields. */
export type Fields<Refusal> = Plain<Omit<Refusal, "_tag" | keyof Cause.YieldableError>>

/** The class that `defineError` returns. */
export type ErrorClass<Base extends Error, Code extends string, Refusal> = new(
  refusal: Refusal
) => Base & { readonly code: Code } & Fields<Refusal>

/**
 * Defines the error that a promise API throws for a refusal of its service: the fields of the refusal and its cause, a
 * `code` for programs, and a message. The code `unknown_lot` has the name `UnknownLotError`.
 *
 *     export class UnknownLotError extends defineError(
 *       LedgerError,
 *       "unknown_lot",
 *       ({ lot }: Refusal.UnknownLot) => `The account has no lot ${lot}`
 *     ) {}
 */
export const defineError = <Base extends Error, const Code extends string, Refusal extends object>(
  base: abstract new(message: string, options?: ErrorOptions) => Base,
  code: Code,
  messageOf: (refusal: Refusal) => string
): ErrorClass<Base, Code, Refusal> => {
  const name = `${code.replace(/(?:^|_)([a-z])/g, (_, initial: string) => initial.toUpperCase())}Error`
  const parent: abstract new(message: string, options?: ErrorOptions) => Error = base
  return class extends parent {
    constructor(refusal: Refusal) {
      super(messageOf(refusal), "cause" in refusal ? { cause: refusal.cause } : undefined)
      const { _tag, ...fields } = toPlain(Object.fromEntries(Object.entries(refusal)))
      Object.assign(this, fields, { name, code })
    }
  } as ErrorClass<Base, Code, Refusal>
}

/** The class of the error of each refusal, by the tag of the refusal. */
export type ErrorClasses<Reason extends Tagged, E extends Error> = {
  readonly [Tag in Reason["_tag"]]: new(refusal: Extract<Reason, { readonly _tag: Tag }>) => E
}

/** Returns the function that makes the error of a rejected call. */
export const errorsByTag =
  <Reason extends Tagged, E extends Error>(classes: ErrorClasses<Reason, E>) =>
  ({ reason }: { readonly reason: Reason }): E => {
    const found: Readonly<Record<string, new(refusal: never) => E>> = classes
    const errorClass = found[reason._tag] as new(refusal: Reason) => E
    return new errorClass(reason)
  }

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Tagged {
  readonly _tag: string
}
