/** `kinora credits`. */
import { lotCreditsMax, LotKind } from "@kinora/http-api/AdminLedger"
import { DateTime, Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { intBetween } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { reference, referenceOf } from "./reference.ts"

const grant = operatorCommand(
  "grant",
  "Grant credits, which open a lot",
  {
    account,
    credits: Argument.Int("credits").pipe(
      Argument.withDescription("Number of credits"),
      Argument.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: lotCreditsMax })))
    ),
    kind: Flag.Literals("kind", LotKind.literals).pipe(
      Flag.withDescription("Where the credits come from"),
      Flag.withDefault("addon")
    ),
    days: intBetween("days", "Days until the credits expire", { minimum: 1, maximum: 36_500, usual: 365 }),
    imagesOnly: Flag.Boolean("images-only").pipe(
      Flag.withDescription("The credits pay for image jobs only"),
      Flag.withDefault(false)
    ),
    reference
  },
  Effect.fnUntraced(function*(operator, { account, credits, days, imagesOnly, kind, reference }) {
    const lot = yield* operator.ledger.grantLot({
      params: { id: yield* idOf(operator, account) },
      payload: {
        reference: yield* referenceOf(reference),
        kind,
        credits,
        expires_at: DateTime.add(yield* DateTime.now, { days }),
        images_only: imagesOnly
      }
    })
    yield* Output.show(
      lot,
      Output.properties([
        ["lot", lot.id],
        ["credits", lot.credits],
        ["remaining", lot.remaining],
        ["kind", lot.images_only ? `${lot.kind}, images only` : lot.kind],
        ["expires", Output.time(lot.expires_at)],
        ["reference", lot.reference]
      ])
    )
  })
)

const list = operatorCommand(
  "list",
  "List the lots that jobs can use, in the order in which they use them",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const balances = yield* operator.ledger.getBalances({ params: { id: yield* idOf(operator, account) } })
    const lots = Output.table(balances.lots, [
      { title: "LOT", value: ({ id }) => id },
      { title: "KIND", value: (lot) => lot.images_only ? `${lot.kind}, images only` : lot.kind },
      { title: "REMAINING", value: ({ remaining }) => remaining, isNumber: true },
      { title: "OF", value: ({ credits }) => credits, isNumber: true },
      { title: "EXPIRES", value: (lot) => Output.time(lot.expires_at) }
    ], "The account has no credits.")
    const { images, videos } = balances.quota_used
    yield* Output.show(
      balances,
      `${lots}\n\n${
        Output.properties([
          ["credits", balances.credits],
          ["Studio today", `${images} images, ${videos} videos`]
        ])
      }`
    )
  })
)

const revoke = operatorCommand(
  "revoke",
  "End a lot now, with the credits that are left in it",
  {
    account,
    lot: Argument.String("lot").pipe(Argument.withDescription("The id of the lot, from `kinora credits list`"))
  },
  Effect.fnUntraced(function*(operator, { account, lot }) {
    yield* confirm(`Revoke what is left in ${lot} of ${account}?`)
    const params = { id: yield* idOf(operator, account), lot_id: lot }
    const revocation = yield* operator.ledger.revokeLot({ params })
    yield* Output.show(revocation, `${revocation.credits} credits of ${lot} were revoked.`)
  })
)

/** Grants, lists and revokes credits. */
export const creditsCommand = Command.make("credits").pipe(
  Command.withDescription("Grant, list and revoke credits"),
  Command.withSubcommands([grant, list, revoke])
)
