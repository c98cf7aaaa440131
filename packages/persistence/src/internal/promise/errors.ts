/** Refusals of services as errors of JavaScript. */
import type { Cause } from "effect"
import { type Plain, toPlain } from "./plain.ts"

/** The part of a refusal that its error has as fields. */
export type Fields<Refusal> = Plain<Omit<Refusal, "_tag" | keyof Cause.YieldableError>>

/** A class that `errorsOf` defines. */
export type ErrorClass<Base extends Error, Code extends string, Refusal> = new(
  refusal: Refusal
) => Base & { readonly code: Code } & Fields<Refusal>

/**
 * Returns the function that defines the errors which a promise API throws for the refusals of its service. An error has
 * the fields of the refusal and its cause, a `code` for programs, and a message. The code `unknown_lot` has the name
 * `UnknownLotError`.
 *
 *     const define = errorsOf(LedgerError)
 *     export class UnknownLotError extends define("unknown_lot", ({ lot }: Refusal.UnknownLot) => `No lot ${lot}`) {}
 */
export const errorsOf =
  <Base extends Error>(base: abstract new(message: string, options?: ErrorOptions) => Base) =>
  <const Code extends string, Refusal extends object>(
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

/** Returns the message of a refusal, for an error with the same one. */
export const ownMessage = <Refusal extends { readonly message: string }>({ message }: Refusal): string => message

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
