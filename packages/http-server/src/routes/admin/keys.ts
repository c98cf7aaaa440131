/** API keys in the operator API. */
import { Account, Accounts, ApiKey, type KeyTerms } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog"
import type { CreateKeyRequest } from "@kinora/http-api/AdminAccount"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Duration, Effect, Option, Redacted, Result } from "effect"
import { IpInterface, IpNetwork } from "effect/net"
import { changes, note } from "../../middleware/changes.ts"
import { answers, invalidField, parseId } from "../../middleware/refusals.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(
  AdminApi,
  "keys",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const { find } = yield* Catalog.Catalog

    /** Rejects the first model that the catalog does not list, which is most likely a typing error. */
    const checkModels = Effect.fnUntraced(function*(models: ReadonlyArray<string>) {
      for (const [index, model] of models.entries()) {
        if (Option.isNone(find(model))) {
          return yield* invalidField(`models[${index}]`, "must be the id of a model of this service")
        }
      }
    })

    return handlers.handleAll({
      createKey: changes(
        ["AccountDeleted", "AccountNotFound", "KeyNameInvalid", "KeyTermsInvalid", "TooManyKeys"],
        function*({ params, payload }) {
          const account = yield* parseId(Account.AccountId.parse, params.id)
          yield* checkModels(payload.models ?? [])
          const created = yield* accounts.createKey(account, payload.name, termsOf(payload))
          yield* note({ subject: created.record.id, after: { account, name: created.record.name } })
          yield* Effect.logInfo("An operator created an API key", { account, key: created.record.id })
          return shownOnce(newKeyToWire(created))
        }
      ),

      rollKey: changes(
        ["AccountDeleted", "AccountNotFound", "KeyNotFound", "KeyEnded", "TooManyKeys"],
        function*({ params, payload: { overlap_seconds = overlapSeconds } }) {
          const account = yield* parseId(Account.AccountId.parse, params.id)
          const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
          const rolled = yield* accounts.rollKey(account, key, Duration.seconds(overlap_seconds))
          yield* note({ after: { account, successor: rolled.record.id } })
          yield* Effect.logInfo("An operator rolled an API key", { account, key, successor: rolled.record.id })
          return shownOnce(newKeyToWire(rolled))
        }
      ),

      listKeys: answers(["AccountNotFound"], function*({ params }) {
        const keys = yield* accounts.listKeys(yield* parseId(Account.AccountId.parse, params.id))
        return { data: keys.map(toWire) }
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
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a rolled key stays valid by default, in seconds. */
const overlapSeconds = 86_400

const termsOf = ({ expires_at, ip_ranges, models, scopes }: CreateKeyRequest): KeyTerms.KeyTerms => ({
  expiresAt: Option.fromUndefinedOr(expires_at),
  scopes: Option.fromUndefinedOr(scopes),
  models: Option.fromUndefinedOr(models),
  networks: Option.map(Option.fromUndefinedOr(ip_ranges), (ranges) => ranges.map(networkOf))
})

/** Returns the network of a range that the schema has checked. An address is a network of its own. */
const networkOf = (range: string): IpNetwork.IpNetwork =>
  IpNetwork.fromInterface(Result.getOrThrow(IpInterface.fromString(range, { prefix: "optional" })))

const termsToWire = ({ expiresAt, models, networks, scopes }: KeyTerms.KeyTerms) => ({
  expires_at: Option.getOrNull(expiresAt),
  scopes: Option.getOrNull(scopes),
  models: Option.getOrNull(models),
  ip_ranges: Option.getOrNull(Option.map(networks, (networks) => networks.map(IpNetwork.format)))
})

const newKeyToWire = ({ key, record: { createdAt, id, name, prefix, terms } }: Accounts.NewKey) => ({
  id,
  name,
  prefix,
  key: Redacted.value(key),
  ...termsToWire(terms),
  created_at: createdAt
})

const toWire = ({ createdAt, id, lastUsedAt, name, prefix, revokedAt, terms }: ApiKey.ApiKey) => ({
  id,
  name,
  prefix,
  ...termsToWire(terms),
  created_at: createdAt,
  last_used_at: Option.getOrNull(lastUsedAt),
  revoked_at: Option.getOrNull(revokedAt)
})
