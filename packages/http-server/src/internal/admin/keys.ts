/** API keys for operators. */
import { Accounts } from "@kinora/accounts"
import * as ApiKey from "@kinora/accounts/ApiKey"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Refusals from "./refusals.ts"
import { shownOnce } from "./shownOnce.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "keys",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    return handlers
      .handle(
        "createKey",
        Effect.fnUntraced(
          function*({ params, payload }) {
            const account = yield* Refusals.accountIdOf(params.id)
            const { key, record: { createdAt, id, name, prefix } } = yield* accounts.createKey(account, payload.name)
            yield* Effect.logInfo("An operator created an API key", { account, key: id })
            return shownOnce({ id, name, prefix, key: Redacted.value(key), created_at: createdAt })
          },
          Refusals.answer("AccountNotFound", "KeyNameInvalid", "TooManyKeys")
        )
      )
      .handle(
        "listKeys",
        Effect.fnUntraced(
          function*({ params }) {
            const keys = yield* accounts.listKeys(yield* Refusals.accountIdOf(params.id))
            return { data: keys.map(toWire) }
          },
          Refusals.answer("AccountNotFound")
        )
      )
      .handle(
        "revokeKey",
        Effect.fnUntraced(
          function*({ params }) {
            const account = yield* Refusals.accountIdOf(params.id)
            const key = yield* Refusals.idOf(ApiKey.KeyId.parse, params.key_id)
            yield* accounts.revokeKey(account, key)
            yield* Effect.logInfo("An operator revoked an API key", { account, key })
          },
          Refusals.answer("KeyNotFound")
        )
      )
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
