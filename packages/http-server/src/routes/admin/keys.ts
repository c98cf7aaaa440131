/** API keys in the operator API. */
import { Account, Accounts, ApiKey } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { answers, parseId } from "../../middleware/refusals.ts"
import { shownOnce } from "../../wire/shownOnce.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "keys",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts

    return handlers.handleAll({
      createKey: answers(["AccountNotFound", "KeyNameInvalid", "TooManyKeys"], function*({ params, payload }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        const { key, record: { createdAt, id, name, prefix } } = yield* accounts.createKey(account, payload.name)
        yield* Effect.logInfo("An operator created an API key", { account, key: id })
        return shownOnce({ id, name, prefix, key: Redacted.value(key), created_at: createdAt })
      }),

      listKeys: answers(["AccountNotFound"], function*({ params }) {
        const keys = yield* accounts.listKeys(yield* parseId(Account.AccountId.parse, params.id))
        return { data: keys.map(toWire) }
      }),

      revokeKey: answers(["KeyNotFound"], function*({ params }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
        yield* accounts.revokeKey(account, key)
        yield* Effect.logInfo("An operator revoked an API key", { account, key })
      })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toWire = ({ createdAt, id, lastUsedAt, name, prefix, revokedAt }: ApiKey.ApiKey) => ({
  id,
  name,
  prefix,
  created_at: createdAt,
  last_used_at: Option.getOrNull(lastUsedAt),
  revoked_at: Option.getOrNull(revokedAt)
})
