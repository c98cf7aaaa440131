/** Checks of what runs jobs: the workers and the models, as the operator API reports them. */
import type { AdminModel } from "@kinora/http-api/AdminModel"
import type { AdminModelQueue } from "@kinora/http-api/AdminQueue"
import { Effect, Option } from "effect"
import type { Connection } from "../Connection.ts"
import { connect, explained } from "../Operator.ts"
import { allOf } from "./allPages.ts"
import * as Finding from "./Finding.ts"

/** Checks the workers and the models. */
export const checkOperation = Effect.fnUntraced(function*({ adminToken }: Connection) {
  if (Option.isNone(adminToken)) {
    return ["workers", "upstreams"].map((check) => Finding.skipped(check, "KINORA_ADMIN_TOKEN is not set"))
  }
  const advice = "Repair the listener for operators, or the token, and run the command again"
  const operator = yield* Effect.result(explained(connect))
  if (operator._tag === "Failure") return [Finding.failure("workers", operator.failure.message, advice)]
  return [
    yield* Effect.map(allOf((query) => operator.success.queue.getQueue({ query })), checkQueue).pipe(
      explained,
      Finding.orFailure("workers", advice)
    ),
    yield* Effect.map(allOf((query) => operator.success.models.listModels({ query })), checkModels).pipe(
      explained,
      Finding.orFailure("upstreams", advice)
    )
  ]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const checkQueue = (data: ReadonlyArray<AdminModelQueue>) => {
  const unserved = data.filter(({ workers }) => workers === 0).map(({ model }) => model)
  const waiting = data.filter(({ queued, workers }) => workers === 0 && queued > 0).map(({ model }) => model)
  const advice = "Start a worker with these models, or a server with KINORA_WORKERS above 0; see kinora worker list"
  return waiting.length > 0
    ? Finding.failure("workers", `jobs wait, and no worker runs them: ${waiting.join(", ")}`, advice)
    : unserved.length > 0
    ? Finding.warning("workers", `no worker runs jobs of ${unserved.join(", ")}`, advice)
    : Finding.ok("workers", "every model has a worker")
}

const checkModels = (data: ReadonlyArray<AdminModel>) => {
  const failing = data.filter(({ reports }) => reports.length > 0).map(({ id, reports }) =>
    `${id} (${[...new Set(reports.map(({ upstream }) => upstream))].join(", ")})`
  )
  const paused = data.filter(({ paused_at: at }) => at !== null).map(({ id }) => id)
  return failing.length > 0
    ? Finding.failure(
      "upstreams",
      `fail in a worker: ${failing.join(", ")}`,
      "Read the log of the worker for the errors of these drivers; a job tests them again by itself"
    )
    : paused.length > 0
    ? Finding.warning("upstreams", `paused by an operator: ${paused.join(", ")}`, "End it with kinora model resume")
    : Finding.ok("upstreams", "no worker reports a failing upstream")
}
