/** `GET /v1/account` and `GET /v1/usage`. */
import { Generations } from "@kinora/generations/Generations"
import { CurrentKey } from "@kinora/http-api/Access"
import type { Account } from "@kinora/http-api/Account"
import { Api } from "@kinora/http-api/Api"
import { make } from "@kinora/http-api/ApiError"
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
  EndpointGroup.make(
    Api,
    "account",
    Effect.fnUntraced(function*(handlers) {
      const budget = yield* Budget.Budget
      const generations = yield* Generations
      const ledger = yield* Ledger

      /** The report contains `null` if the counter is unavailable. */
      const bytesToday = (account: string) =>
        budget.used(bytesKey(account)).pipe(
          Effect.catch((error) =>
            Effect.as(Effect.logWarning("Failed to read the downloaded bytes of the day", error), undefined)
          )
        )

      return handlers.handleAll({
        get: answers([], function*() {
          const { account } = yield* currentIdentity
          const now = yield* DateTime.now
          const [balances, bytes] = yield* Effect.all([ledger.balances(account.id, now), bytesToday(account.id)], {
            concurrency: 2
          })
          const body: typeof Account.Encoded = toWire({ account, balances, bytesToday: bytes, now }, options)
          return HttpServerResponse.jsonUnsafe(body)
        }),

        usage: answers([], function*({ query }) {
          const { account } = yield* CurrentKey
          const span = yield* Effect.fromResult(UsageSpan.parse(query, yield* DateTime.now)).pipe(
            Effect.mapError((message) => make("invalid_range", { message }))
          )
          const data = yield* generations.usage(account, span)
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
  )
