import { assert, it } from "@effect/vitest"
import { Effect, type Types } from "effect"
import { LedgerError, LedgerErrorReason } from "../src/LedgerError.ts"

const { InsufficientCredits, UnknownCharge } = LedgerErrorReason.cases

/** The credits that a charge lacks. */
const missingOf = ({ available, required }: Types.ExtractTag<LedgerErrorReason, "InsufficientCredits">) =>
  required - available

it("matches reasons by their tag", () => {
  const creditsOf = (reason: LedgerErrorReason) =>
    LedgerErrorReason.matchOrElse(reason, { InsufficientCredits: missingOf }, () => 0)
  assert.strictEqual(creditsOf(new InsufficientCredits({ required: 40, available: 10 })), 30)
  assert.strictEqual(creditsOf(new UnknownCharge({ reference: "1" })), 0)
})

it.effect("fails with a reason that catchReason handles", () =>
  Effect.gen(function*() {
    const error = new LedgerError({ reason: new InsufficientCredits({ required: 40, available: 10 }) })
    assert.strictEqual(error.message, "The ledger rejected the command: InsufficientCredits")
    const caught = Effect.catchReason(
      Effect.fail(error),
      "LedgerError",
      "InsufficientCredits",
      (reason) => Effect.succeed(missingOf(reason))
    )
    assert.strictEqual(yield* caught, 30)
  }))
