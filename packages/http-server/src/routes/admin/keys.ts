/** API keys in the operator API. */
import { Account, Accounts, ApiKey } from "@kinora/accounts"
import type { BudgetAuthor } from "@kinora/accounts/KeyBudget"
import { Catalog } from "@kinora/catalog"
import type { UpdateKeyRequest } from "@kinora/http-api/AdminAccount"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Duration, Effect, Option } from "effect"
import { changes, currentAuthor, note } from "../../middleware/changes.ts"
import { answers, invalidField, parseId } from "../../middleware/refusals.ts"
import { keyOf, newKeyOf, overlapSeconds, termsOf } from "../../wire/adminKey.ts"
import * as KeyBudget from "../../wire/keyBudget.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers of the operator endpoints for API keys. */
export const layer = EndpointGroup.make(AdminApi, "keys", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const checkModels = yield* makeCheckModels

  return handlers.handleAll({
    createKey: changes(
      ["AccountDeleted", "AccountNotFound", ...keyInvalid, "TooManyKeys"],
      function*({ params, payload }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        yield* checkModels(payload.models ?? [])
        const budget = KeyBudget.fromWire(payload.budget ?? {})
        const { actor } = yield* currentAuthor
        const created = yield* accounts.createKey(account, payload.name, termsOf(payload), budget, actor)
        const { id, name } = created.record
        yield* note({
          subject: id,
          after: { account, name, ...payload.budget && { budget: KeyBudget.toWire(created.record.budget) } }
        })
        yield* Effect.logInfo("An operator created an API key", { account, key: created.record.id })
        return shownOnce(newKeyOf(created))
      }
    ),

    updateKey: changes(
      ["AccountDeleted", "AccountNotFound", "KeyBudgetInvalid", "KeyEnded", "KeyNameInvalid", "KeyNotFound"],
      function*({ params, payload }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
        const { changed, record } = yield* changeKey(accounts, account, key, payload, "operator")
        if (changed) yield* Effect.logInfo("An operator changed an API key", { account, key })
        return record
      }
    ),

    rollKey: changes(
      ["AccountDeleted", "AccountNotFound", "KeyNotFound", "KeyEnded", "TooManyKeys"],
      function*({ params, payload: { overlap_seconds = overlapSeconds } }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
        const { actor } = yield* currentAuthor
        const rolled = yield* accounts.rollKey(account, key, Duration.seconds(overlap_seconds), actor)
        yield* note({ after: { account, successor: rolled.record.id } })
        yield* Effect.logInfo("An operator rolled an API key", { account, key, successor: rolled.record.id })
        return shownOnce(newKeyOf(rolled))
      }
    ),

    listKeys: answers(["AccountNotFound"], function*({ params }) {
      const keys = yield* accounts.listKeys(yield* parseId(Account.AccountId.parse, params.id))
      const used = yield* accounts.spending.usedBy(keys)
      return { data: keys.map((key) => keyOf(key, used.get(key.line))) }
    }),

    revokeKey: changes(["KeyNotFound"], function*({ params }) {
      const account = yield* parseId(Account.AccountId.parse, params.id)
      const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
      yield* accounts.revokeKey(account, key)
      yield* note({ after: { account } })
      yield* Effect.logInfo("An operator revoked an API key", { account, key })
    })
  })
})

/** Makes the function that rejects the first model that the catalog does not list, which is most likely a typing error. */
export const makeCheckModels = Effect.map(
  Catalog.Catalog,
  ({ find }) =>
    Effect.fnUntraced(function*(models: ReadonlyArray<string>) {
      for (const [index, model] of models.entries()) {
        if (Option.isNone(find(model))) {
          return yield* invalidField(`models[${index}]`, "must be the id of a model of this service")
        }
      }
    })
)

/** Changes a key, and records the change unless it is empty. Returns the key, and whether it was changed. */
export const changeKey = Effect.fnUntraced(function*(
  accounts: Accounts.Accounts["Service"],
  account: Account.AccountId,
  key: ApiKey.KeyId,
  { budget = {}, name }: UpdateKeyRequest,
  author: BudgetAuthor
) {
  const { changed, former } = yield* accounts.changeBudget(account, key, KeyBudget.fromWire(budget), author)
  const isRenamed = name !== undefined && name !== changed.name
  const record = isRenamed ? yield* accounts.renameKey(account, key, name) : changed
  const isLimited = Object.keys(budget).length > 0
  yield* note({
    unchanged: !isLimited && !isRenamed,
    before: { ...isRenamed && { name: changed.name }, ...isLimited && { budget: KeyBudget.toWire(former) } },
    after: { account, ...isRenamed && { name }, ...isLimited && { budget: KeyBudget.toWire(changed.budget) } }
  })
  const used = (yield* accounts.spending.usedBy([record])).get(record.line)
  return { changed: isLimited || isRenamed, record: keyOf(record, used) }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The refusals of a new key. */
const keyInvalid = ["KeyBudgetInvalid", "KeyNameInvalid", "KeyTermsInvalid"] as const
