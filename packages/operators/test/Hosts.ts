/** Hosts over the store of a suite, and what tests do with them. */
import { Context, Effect, Layer, type Redacted } from "effect"
import * as AuditLog from "../src/AuditLog.ts"
import * as Operators from "../src/Operators.ts"

/** One host over the store of the suite. */
export const makeHost = (options: Operators.OperatorsOptions = {}) =>
  Effect.map(Layer.build(Operators.layerWith(options)), Context.get(Operators.Operators))

/** The audit log of one host. */
export const makeLog = Effect.map(Layer.build(AuditLog.layer), Context.get(AuditLog.AuditLog))

export const reasonOf = <A>(effect: Effect.Effect<A, Operators.Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "OperatorsError" ? error.reason._tag : error._tag)

/** Returns why a token is rejected, or the id of its operator. */
export const resultOf = (host: Operators.Operators["Service"], token: Redacted.Redacted) =>
  host.authenticate(token).pipe(
    Effect.map(({ id }): string => id),
    Effect.catchTag("TokenRejected", ({ reason }) => Effect.succeed(reason))
  )
