/** Jobs in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { GenerationStore } from "@kinora/generations"
import { type Generation, GenerationId } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { refuse } from "@kinora/http-api/ApiError"
import { Ledger } from "@kinora/ledger/Ledger"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Effect, Option } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { answers, invalidParameter, parseId } from "../../middleware/refusals.ts"
import { detailOf, toWire } from "../../wire/adminGeneration.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "generations", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const generations = yield* Generations
  const readDetail = yield* makeReadDetail
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore.GenerationStore

  const find = Effect.fnUntraced(function*(text: string) {
    const [found] = yield* store.find([yield* parseId(GenerationId.parse, text)])
    return found ?? (yield* refuse("not_found"))
  })

  /** Ends a job, and records its former status. */
  const end = Effect.fnUntraced(function*<E>(
    text: string,
    run: (account: string, id: GenerationId) => Effect.Effect<Generation, E>,
    action: string
  ) {
    const { account, id, status } = yield* find(text)
    const ended = yield* run(account, id)
    yield* note({ before: { status }, after: { account, status: ended.status } })
    yield* Effect.logInfo(`An operator ${action} a job`, { account, job: id })
    return toWire(ended)
  })

  return handlers.handleAll({
    listGenerations: answers(["AccountNotFound"], function*({ params, query }) {
      const { cursor, limit = pageSizeDefault, ...selection } = query
      const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      const before = cursor === undefined ? undefined : GenerationId.parse(cursor)
      if (cursor !== undefined && before === undefined) return yield* invalidCursor
      const page = yield* generations.list(id, { ...selection, limit, before })
      return { data: page.generations.map(toWire), next_cursor: page.next }
    }),

    searchGenerations: answers(["AccountNotFound"], function*({ query }) {
      const { account: text, created_after, created_before, cursor, limit = pageSizeDefault, model, status } = query
      const before = cursor === undefined ? undefined : GenerationId.parse(cursor)
      if (cursor !== undefined && before === undefined) return yield* invalidCursor
      const account = text === undefined
        ? undefined
        : (yield* accounts.get(yield* parseId(Account.AccountId.parse, text))).id
      const criteria = { account, status, model, createdAfter: created_after, createdBefore: created_before }
      const page = yield* generations.search({ ...criteria, before, limit })
      return { data: page.generations.map(toWire), next_cursor: page.next }
    }),

    getGeneration: answers([], function*({ params }) {
      return yield* readDetail(yield* find(params.id))
    }),

    cancelGeneration: changes(["NotFound", "NotCancellable"], function*({ params }) {
      return yield* end(params.id, generations.cancel, "cancelled")
    }),

    failGeneration: changes(["NotFound", "AlreadyEnded"], function*({ params }) {
      return yield* end(params.id, generations.fail, "failed")
    }),

    requeueGeneration: changes(["NotFound", "AlreadyEnded"], function*({ params }) {
      const { account, id } = yield* find(params.id)
      const [job] = yield* scheduler.find([GenerationId.toUuid(id)])
      const requeued = yield* generations.requeue(account, id)
      yield* note({ before: { worker: Option.getOrNull(job?.worker ?? Option.none()) }, after: { account } })
      yield* Effect.logInfo("An operator requeued a job", { account, job: id })
      return toWire(requeued)
    })
  })
})

/** Makes the function that reads the records of a job. */
export const makeReadDetail = Effect.gen(function*() {
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore.GenerationStore
  const webhooks = yield* Webhooks

  return Effect.fnUntraced(function*(generation: Generation) {
    const { account, id: reference } = generation
    const [job] = yield* scheduler.find([GenerationId.toUuid(reference)])
    const bookings = yield* ledger.entries({ account, reference })
    const history = yield* webhooks.history(account, reference)
    return detailOf(generation, { attempts: yield* store.attempts(reference), job, bookings, history })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")
