/** Reports of an account and its jobs in the API of the console. */
import { GenerationQueue } from "@kinora/generations"
import { Generations } from "@kinora/generations/Generations"
import { CurrentConsoleSession, CurrentKey } from "@kinora/http-api/Access"
import type { AdminGenerationDetail } from "@kinora/http-api/AdminGeneration"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { Ledger } from "@kinora/ledger"
import { Scheduler } from "@kinora/scheduler"
import { UrlSigner } from "@kinora/storage"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { DateTime, Effect, Option, Stream } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { currentAccount } from "../../middleware/consoleAuthentication.ts"
import { currentIdentity, currentRequest } from "../../middleware/currentRequest.ts"
import { answers } from "../../middleware/refusals.ts"
import * as SessionEnds from "../../middleware/sessionEnds.ts"
import * as WaitingPlaces from "../../middleware/waitingPlaces.ts"
import { summaryOf } from "../../wire/accountSummary.ts"
import * as EventStream from "../../wire/eventStream.ts"
import { linksOf, toWire } from "../../wire/generation.ts"
import { makeReadDetail } from "../admin/generations.ts"
import { makeReadStatement } from "../admin/ledger.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(ConsoleApi, "reports", function*(handlers) {
    const generations = yield* Generations
    const ledger = yield* Ledger.Ledger
    const readDetail = yield* makeReadDetail
    const readStatement = yield* makeReadStatement
    const scheduler = yield* Scheduler.Scheduler
    const webhooks = yield* Webhooks
    const follow = yield* makeFollow(options)

    return handlers.handleAll({
      getSummary: answers([], function*() {
        const { account } = yield* currentIdentity
        const now = yield* DateTime.now
        const { lanes } = yield* Effect.provideService(
          GenerationQueue.lanes({ account: account.id, limit: lanesMax }),
          Scheduler.Scheduler,
          scheduler
        )
        const [balances, endpoints] = yield* Effect.all([
          ledger.balances(account.id, now),
          webhooks.list(account.id)
        ])
        return summaryOf({ account, lanes, balances, endpoints, now }, options.plans)
      }),

      getStatement: answers([], function*({ query }) {
        return yield* readStatement(yield* currentAccount, query)
      }),

      getActivity: answers(["NotFound"], function*({ params }) {
        return withoutWorkers(yield* readDetail(yield* generations.get(yield* currentAccount, params.id)))
      }),

      followJobs: answers([], function*() {
        return yield* follow
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An account has a lane per plan group. */
const lanesMax = 10

/** The names of workers are those of hosts, which concern operators only. */
const withoutWorkers = ({ run, timeline, ...detail }: AdminGenerationDetail): AdminGenerationDetail => ({
  ...detail,
  run: run === null ? null : { ...run, worker: null },
  timeline: timeline.map(({ attempt, ...step }) => ({
    ...step,
    attempt: attempt === null ? null : { ...attempt, worker: "" }
  }))
})

/** Makes the effect that streams the changes of all jobs of the account. */
const makeFollow = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const generations = yield* Generations
  const places = yield* WaitingPlaces.make(options)
  const signer = yield* UrlSigner.UrlSigner
  const endOf = yield* SessionEnds.makeAwaitEnd(options)

  return Effect.gen(function*() {
    const account = yield* currentAccount
    const { id, key = id } = yield* CurrentConsoleSession
    const state = yield* currentRequest
    if (!(yield* Effect.provideService(places.longPoll, CurrentKey, { account, key }))) {
      return EventStream.responseWithoutPlace(options.eventsHeartbeat)
    }
    const links = linksOf(signer, state, options)
    const now = yield* DateTime.now
    // Without an id, the stream begins now, so that a change before the account is watched is not missed.
    const since = Option.getOrElse(DateTime.make(state.request.headers["last-event-id"] ?? ""), () => now)
    return EventStream.responseOfMany(
      generations.accountChanges(account, since).pipe(
        Stream.interruptWhen(yield* endOf(account)),
        Stream.interruptWhen(Effect.sleep(options.accountEventsTime))
      ),
      (generation) =>
        Effect.map(DateTime.now, (at) => ({ id: DateTime.formatIso(at), job: toWire(generation, at, links) })),
      options.eventsHeartbeat,
      DateTime.formatIso(now)
    )
  })
})
