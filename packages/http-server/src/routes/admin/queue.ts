/** Workers and queues in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog/Catalog"
import { GenerationQueue } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { refuse } from "@kinora/http-api/ApiError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, Duration, Effect, Option } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "queue", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const catalog = yield* Catalog
  const scheduler = yield* Scheduler
  const services = Context.make(Catalog, catalog).pipe(Context.add(Scheduler, scheduler))

  return handlers.handleAll({
    listWorkers: answers([], function*({ query: { cursor: after, limit = pageSizeDefault } }) {
      const page = yield* Effect.provide(GenerationQueue.workers({ after, limit }), services)
      return { data: page.workers.map(workerOf), next_cursor: page.next }
    }),

    drainWorker: changes([], function*({ params: { id } }) {
      // Databases cannot compare text that contains U+0000.
      if (id.includes("\0") || !(yield* scheduler.drain(id))) return yield* refuse("not_found")
      yield* note({ after: { status: "draining" } })
      yield* Effect.logInfo("An operator drained a worker", { worker: id })
    }),

    resumeWorker: changes([], function*({ params: { id } }) {
      if (id.includes("\0") || !(yield* scheduler.resume(id))) return yield* refuse("not_found")
      yield* note({ after: { status: "running" } })
      yield* Effect.logInfo("An operator resumed a worker", { worker: id })
    }),

    getQueue: answers([], function*({ query: { cursor, limit = pageSizeDefault } }) {
      const queues = yield* Effect.provide(GenerationQueue.read, services)
      const rest = cursor === undefined ? queues : queues.filter(({ model }) => model > cursor)
      const data = rest.slice(0, limit).map((queue) => queueOf(catalog, queue))
      return { data, next_cursor: limit < rest.length ? data.at(-1)!.model : null }
    }),

    listLanes: answers(
      ["AccountNotFound"],
      function*({ query: { account: text, cursor: after, limit = pageSizeDefault } }) {
        const account = text === undefined
          ? undefined
          : (yield* accounts.get(yield* parseId(Account.AccountId.parse, text))).id
        const page = yield* Effect.provide(GenerationQueue.lanes({ account, after, limit }), services)
        return { data: page.lanes, next_cursor: page.next }
      }
    )
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

const workerOf = (worker: GenerationQueue.QueueWorker) => ({
  id: worker.id,
  name: worker.name,
  status: !worker.isDraining ? "running" as const : worker.running > 0 ? "draining" as const : "drained" as const,
  models: worker.models,
  concurrency: worker.slots,
  running_jobs: worker.running,
  started_at: Option.getOrNull(worker.startedAt),
  lease_until: worker.until
})

const queueOf = (catalog: Catalog["Service"], { oldestWait, ...queue }: GenerationQueue.ModelQueue) => ({
  ...queue,
  kind: Option.match(catalog.find(queue.model), { onNone: () => null, onSome: ({ kind }) => kind }),
  oldest_wait_seconds: Option.match(oldestWait, {
    onNone: () => null,
    onSome: (wait) => Math.floor(Duration.toSeconds(wait))
  })
})
