/** API keys for operators. */
import { Accounts } from "@kinora/accounts"
import * as ApiKey from "@kinora/accounts/ApiKey"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { unavailable } from "../refusals.ts"
import * as Refusals from "./refusals.ts"

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
            return { id, name, prefix, key: Redacted.value(key), created_at: createdAt }
          },
          Effect.catchReasons(
            "AccountsError",
            {
              AccountNotFound: Refusals.AccountNotFound,
              KeyNameInvalid: Refusals.KeyNameInvalid,
              TooManyKeys: Refusals.TooManyKeys
            },
            Refusals.unexpected
          ),
          Effect.catchTag("StorageError", unavailable)
        )
      )
      .handle(
        "listKeys",
        Effect.fnUntraced(
          function*({ params }) {
            const keys = yield* accounts.listKeys(yield* Refusals.accountIdOf(params.id))
            return { data: keys.map(toWire) }
          },
          Effect.catchReasons(
            "AccountsError",
            { AccountNotFound: Refusals.AccountNotFound },
            Refusals.unexpected
          ),
          Effect.catchTag("StorageError", unavailable)
        )
      )
      .handle(
        "revokeKey",
        Effect.fnUntraced(
          function*({ params }) {
            const account = yield* Refusals.accountIdOf(params.id)
            const key = ApiKey.KeyId.parse(params.key_id)
            if (key === undefined) return yield* Refusals.notFound
            yield* accounts.revokeKey(account, key)
            yield* Effect.logInfo("An operator revoked an API key", { account, key })
          },
          Effect.catchReasons("AccountsError", { KeyNotFound: Refusals.KeyNotFound }, Refusals.unexpected),
          Effect.catchTag("StorageError", unavailable)
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
