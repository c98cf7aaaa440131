import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { WorkerFailure } from "../src/JobHandler.ts"
import { SchedulerError, SchedulerErrorReason } from "../src/SchedulerError.ts"

it.effect("fails with the message of its reason, which catchReason handles", () =>
  Effect.gen(function*() {
    const error = new SchedulerError({
      reason: new SchedulerErrorReason.cases.QueueFull({ group: "ada", waiting: 20, max: 20 })
    })
    assert.strictEqual(error.message, "The queue of ada is full: 20 of at most 20 jobs are waiting")
    const caught = Effect.catchReason(
      Effect.fail(error),
      "SchedulerError",
      "QueueFull",
      ({ waiting }) => Effect.succeed(waiting)
    )
    assert.strictEqual(yield* caught, 20)
  }))

it("matches the failures of a worker by their tag", () => {
  const describe = (failure: WorkerFailure) =>
    WorkerFailure.match(failure, {
      TimeLimitExceeded: ({ job }) => `${job} took too long`,
      AttemptsExhausted: ({ attempts, job }) => `${job} was lost ${attempts} times`
    })
  assert.strictEqual(describe(new WorkerFailure.cases.TimeLimitExceeded({ job: "1" })), "1 took too long")
  assert.strictEqual(
    describe(new WorkerFailure.cases.AttemptsExhausted({ job: "1", attempts: 3 })),
    "1 was lost 3 times"
  )
})
