/** API keys in the operator API. */
import { Account, Accounts, ApiKey, type KeyTerms } from "@kinora/accounts"
import type { Used } from "@kinora/accounts/KeySpending"
import { Catalog } from "@kinora/catalog"
import type { CreateKeyRequest } from "@kinora/http-api/AdminAccount"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Duration, Effect, Option, Redacted, Result } from "effect"
import { IpInterface, IpNetwork } from "effect/net"
import { changes, note } from "../../middleware/changes.ts"
import { answers, invalidField, parseId } from "../../middleware/refusals.ts"
import * as KeyBudget from "../../wire/keyBudget.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(
  AdminApi,
  "keys",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const checkModels = yield* makeCheckModels

    return handlers.handleAll({
      createKey: changes(
        ["AccountDeleted", "AccountNotFound", ...keyInvalid, "TooManyKeys"],
        function*({ params, payload }) {
          const account = yield* parseId(Account.AccountId.parse, params.id)
          yield* checkModels(payload.models ?? [])
          const budget = KeyBudget.fromWire(payload.budget ?? {})
          const created = yield* accounts.createKey(account, payload.name, termsOf(payload), budget)
          const { id, name } = created.record
          yield* note({
            subject: id,
            after: { account, name, ...payload.budget && { budget: KeyBudget.toWire(created.record.budget) } }
          })
          yield* Effect.logInfo("An operator created an API key", { account, key: created.record.id })
          return shownOnce(newKeyToWire(created))
        }
      ),

      updateKey: changes(
        ["AccountDeleted", "AccountNotFound", "KeyBudgetInvalid", "KeyEnded", "KeyNotFound"],
        function*({ params, payload }) {
          const account = yield* parseId(Account.AccountId.parse, params.id)
          const key = yield* parseId(ApiKey.KeyId.parse, params.key_id)
          const { changed, former } = yield* accounts.changeBudget(account, key, KeyBudget.fromWire(payload.budget))
          yield* note({
            before: { budget: KeyBudget.toWire(former) },
            after: { account, budget: KeyBudget.toWire(changed.budget) }
          })
          yield* Effect.logInfo("An operator changed the budget of an API key", { account, key })
          return toWire(changed, (yield* accounts.spending.usedBy([changed])).get(changed.line))
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
        const used = yield* accounts.spending.usedBy(keys)
        return { data: keys.map((key) => toWire(key, used.get(key.line))) }
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

/** The refusals of a new key. */
const keyInvalid = ["KeyBudgetInvalid", "KeyNameInvalid", "KeyTermsInvalid"] as const

/** Makes a function that rejects the first model that the catalog does not list, which is most likely a typing error. */
const makeCheckModels = Effect.map(
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

const newKeyToWire = ({ key, record: { budget, createdAt, id, name, prefix, terms } }: Accounts.NewKey) => ({
  id,
  name,
  prefix,
  key: Redacted.value(key),
  ...termsToWire(terms),
  budget: KeyBudget.toWire(budget),
  created_at: createdAt
})

const toWire = (
  { budget, createdAt, id, lastUsedAt, name, prefix, revokedAt, terms }: ApiKey.ApiKey,
  used: Used | undefined
) => ({
  id,
  name,
  prefix,
  ...termsToWire(terms),
  budget: KeyBudget.toWire(budget),
  used: used ?? null,
  created_at: createdAt,
  last_used_at: Option.getOrNull(lastUsedAt),
  revoked_at: Option.getOrNull(revokedAt)
})
