/** `GET /v1/account` and `GET /v1/usage`. */
import { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import { Generations } from "@kinora/generations/Generations"
import type * as Usage from "@kinora/generations/Usage"
import { CurrentKey } from "@kinora/http-api/Access"
import type { Account } from "@kinora/http-api/Account"
import { Api } from "@kinora/http-api/Api"
import { make, refuse } from "@kinora/http-api/ApiError"
import type { UsageReport } from "@kinora/http-api/Usage"
import { Ledger } from "@kinora/ledger/Ledger"
import { Budget } from "@kinora/rate-limit"
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentIdentity } from "../middleware/currentRequest.ts"
import { bytesKey } from "../middleware/downloadLimits.ts"
import { answers } from "../middleware/refusals.ts"
import { toWire } from "../wire/account.ts"
import * as UsageSpan from "../wire/usageSpan.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(Api, "account", function*(handlers) {
    const budget = yield* Budget.Budget
    const generations = yield* Generations
    const { spending } = yield* Accounts
    const ledger = yield* Ledger

    /** The report contains `null` if the counter is unavailable. */
    const bytesToday = (account: string) =>
      budget.used(bytesKey(account)).pipe(
        Effect.catch((error) =>
          Effect.as(Effect.logWarning("Failed to read the downloaded bytes of the day", error), undefined)
        )
      )

    const byKey = yield* makeUsageByKey(options)

    return handlers.handleAll({
      get: answers([], function*() {
        const { account, budgetLine } = yield* currentIdentity
        const now = yield* DateTime.now
        const [balances, bytes, keyBudget] = yield* Effect.all([
          ledger.balances(account.id, now),
          bytesToday(account.id),
          budgetLine === undefined ? Effect.succeedNone : spending.budgetOf(budgetLine)
        ], { concurrency: 3 })
        const body: typeof Account.Encoded = toWire({ account, balances, bytesToday: bytes, keyBudget, now }, options)
        return HttpServerResponse.jsonUnsafe(body)
      }),

      usage: answers([], function*({ query: { group_by, ...days } }) {
        const { account } = yield* CurrentKey
        const span = yield* Effect.fromResult(UsageSpan.parse(days, yield* DateTime.now)).pipe(
          Effect.mapError((message) => make("invalid_range", { message }))
        )
        const data = yield* group_by === "key" ? byKey(account, span) : generations.usage(account, span)
        const totals = { completed: 0, credits: 0 }
        for (const { completed, credits } of data) {
          totals.completed += completed
          totals.credits += credits
        }
        const body: typeof UsageReport.Encoded = { ...span, data, totals }
        return HttpServerResponse.jsonUnsafe(body)
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the function that reads the usage by API key, with the names of the keys. */
const makeUsageByKey = Effect.fnUntraced(function*({ usageRowsMax }: HttpServerOptions) {
  const accounts = yield* Accounts
  const generations = yield* Generations

  return Effect.fnUntraced(function*(account: string, span: Usage.UsageSpan) {
    const rows = yield* generations.usageByKey(account, span, usageRowsMax + 1)
    if (rows.length > usageRowsMax) {
      const message = `The report would have more than ${usageRowsMax} rows. Choose fewer days.`
      return yield* refuse("invalid_range", { message })
    }
    const id = AccountId.parse(account)
    const keys = id === undefined ? [] : yield* accounts.listKeys(id)
    const names = new Map<string, string>(keys.map(({ id, name }) => [id, name]))
    return rows.map(({ key, ...row }) => ({
      ...row,
      key: key === null ? null : { id: key, name: names.get(key) ?? null }
    }))
  })
})
