/** Commands of tests. */
import { assert } from "@effect/vitest"
import type { Decision } from "@kinora/persistence/Decision"
import { Cause, DateTime, Effect, Exit, Result } from "effect"
import type { Books, GrantCommand, HoldCommand } from "../../Books.ts"
import { Ledger } from "../../Ledger.ts"
import { LedgerError, type LedgerErrorReason } from "../../LedgerError.ts"
import type { Price } from "../commands.ts"

/** The time of most commands. */
export const noon = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")
/** A time after noon. */
export const after = (parts: Partial<DateTime.DateTime.PartsForMath>) => DateTime.add(noon, parts)

/** Returns an account that no other test uses. */
export const newAccount = () => `acct-${++accounts}`

/** A grant. */
export const grantOf = (account: string, credits: number, options: Partial<GrantCommand> = {}): GrantCommand => ({
  account,
  reference: "period-1",
  kind: "plan",
  credits,
  expiresAt: after({ days: 30 }),
  at: noon,
  ...options
})

/** A charge of credits. */
export const chargeOf = (
  account: string,
  reference: string,
  credits: number,
  { at = noon, ...options }: Terms & { at?: DateTime.Utc } = {}
) => ({
  account,
  reference,
  amount: { _tag: "Credits", credits, ...options } as const,
  at
})

/** A hold. */
export const holdOf = (
  account: string,
  reference: string,
  credits: number,
  options: Terms & { at?: DateTime.Utc; expiresAt?: DateTime.Utc } = {}
): HoldCommand => ({ account, reference, credits, expiresAt: after({ days: 2 }), at: noon, ...options })

/** A charge to a quota. */
export const quotaChargeOf = (
  account: string,
  reference: string,
  limit: number,
  at = noon,
  kind = "image",
  counts?: number
) => ({
  account,
  reference,
  amount: { _tag: "Quota", kind, limit, amount: counts } as const,
  at
})

/** The numbers from 0. */
export const times = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Runs all at the same time. */
export const concurrently = <Call extends Effect.Effect<unknown, unknown, unknown>>(calls: ReadonlyArray<Call>) =>
  Effect.all(calls, { concurrency: "unbounded" })

/** The books after an accepted decision. */
export const adopt = <A, Refusal>(decision: Decision<Books, A, Refusal>): Books => Result.getOrThrow(decision).state

/** The reason why a command is refused. Any other outcome is a defect. */
export const refusalOf = <A, E>(call: Effect.Effect<A, LedgerError | E>): Effect.Effect<LedgerErrorReason> =>
  Effect.flatMap(
    Effect.flip(call),
    (error) => error instanceof LedgerError ? Effect.succeed(error.reason) : Effect.die(error)
  ).pipe(Effect.orDie)

/** Returns the values of a set. Dies if a command was refused. */
export const accepted = <A, Refusal, E, R>(
  effect: Effect.Effect<ReadonlyArray<Result.Result<A, Refusal>>, E, R>
): Effect.Effect<ReadonlyArray<A>, E, R> => Effect.map(effect, (results) => results.map(Result.getOrThrow))

/** Asserts that single calls and sets on one account that run concurrently in one transaction are all booked. */
export const assertNoUpdateLost = Effect.fnUntraced(function*(
  inTransaction: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, unknown>
) {
  const ledger = yield* Ledger
  const account = newAccount()
  yield* ledger.grant(grantOf(account, 100))
  yield* accepted(ledger.chargeAll(times(10).map((n) => chargeOf(account, `early ${n}`, 1))))
  yield* inTransaction(concurrently([
    ...times(10).map((n) => ledger.charge(chargeOf(account, `single ${n}`, 2))),
    ...times(10).map((n) => ledger.charge(quotaChargeOf(account, `quota ${n}`, 10))),
    ...times(10).map((n) => accepted(ledger.chargeAll([chargeOf(account, `set ${n}`, 1)]))),
    ...times(10).map((n) => ledger.grant(grantOf(account, 3, { reference: `grant ${n}` }))),
    ...times(10).map((n) => ledger.refund({ account, reference: `early ${n}`, at: noon }))
  ]))
  const { credits, quotaUsed } = yield* ledger.balances(account, noon)
  assert.deepStrictEqual([credits, quotaUsed.get("image")], [100 - 20 - 10 + 30, 10])
  assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
})

/** Dies unless the call dies, and returns the message. */
export const defectOf = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<string> =>
  Effect.map(Effect.exit(call), (exit) => {
    if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) return String(Cause.squash(exit.cause))
    throw new Error("The call does not die")
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let accounts = 0

/** Restricts which lots may pay. */
type Terms = Omit<Price, "credits">
