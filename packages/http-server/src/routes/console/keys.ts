/** API keys in the API of the console. */
import { Accounts, ApiKey } from "@kinora/accounts"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { Duration, Effect } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { currentAccount, currentMember } from "../../middleware/consoleAuthentication.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { keyOf, newKeyOf, overlapSeconds, termsOf } from "../../wire/adminKey.ts"
import * as KeyBudget from "../../wire/keyBudget.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import { changeKey, makeCheckModels } from "../admin/keys.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(ConsoleApi, "keys", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const checkModels = yield* makeCheckModels

  return handlers.handleAll({
    listKeys: answers([], function*() {
      const keys = yield* accounts.listKeys(yield* currentAccount)
      const used = yield* accounts.spending.usedBy(keys)
      return { data: keys.map((key) => keyOf(key, used.get(key.line))) }
    }),

    createKey: changes(
      ["KeyBudgetInvalid", "KeyNameInvalid", "KeyTermsInvalid", "TooManyKeys"],
      function*({ payload }) {
        const account = yield* currentAccount
        yield* checkModels(payload.models ?? [])
        const created = yield* accounts.createKey(
          account,
          payload.name,
          termsOf(payload),
          KeyBudget.fromWire(payload.budget ?? {}),
          yield* currentMember,
          "member"
        )
        const { id, name } = created.record
        yield* note({ subject: id, after: { account, name } })
        yield* Effect.logInfo("A member created an API key", { account, key: id })
        return shownOnce(newKeyOf(created))
      }
    ),

    updateKey: changes(
      ["BudgetFixed", "KeyBudgetInvalid", "KeyEnded", "KeyNameInvalid", "KeyNotFound"],
      function*({ params, payload }) {
        const account = yield* currentAccount
        const key = yield* parseId(ApiKey.KeyId.parse, params.id)
        const { changed, record } = yield* changeKey(accounts, account, key, payload, "member")
        if (changed) yield* Effect.logInfo("A member changed an API key", { account, key })
        return record
      }
    ),

    rollKey: changes(
      ["KeyNotFound", "KeyEnded", "TooManyKeys"],
      function*({ params, payload: { overlap_seconds = overlapSeconds } }) {
        const account = yield* currentAccount
        const key = yield* parseId(ApiKey.KeyId.parse, params.id)
        const rolled = yield* accounts.rollKey(
          account,
          key,
          Duration.seconds(overlap_seconds),
          yield* currentMember
        )
        yield* note({ after: { account, successor: rolled.record.id } })
        yield* Effect.logInfo("A member rolled an API key", { account, key, successor: rolled.record.id })
        return shownOnce(newKeyOf(rolled))
      }
    ),

    revokeKey: changes(["KeyNotFound"], function*({ params }) {
      const account = yield* currentAccount
      const key = yield* parseId(ApiKey.KeyId.parse, params.id)
      yield* accounts.revokeKey(account, key)
      yield* note({ after: { account } })
      yield* Effect.logInfo("A member revoked an API key", { account, key })
    })
  })
})
