/** The use-cases `Generations.fail` and `Generations.requeue`, for operators. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { JobStatus } from "@kinora/scheduler/Job"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { BlobStore } from "@kinora/storage/BlobStore"
import { DateTime, Effect, Result } from "effect"
import { type Generation, GenerationId, isFinal } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import type { Reads } from "../read/reads.ts"
import { refuse } from "../refuse.ts"
import { failedByOperator } from "../run/failures.ts"
import * as ResultFiles from "../run/resultFiles.ts"
import { makeEndAll } from "./endAll.ts"

/** Makes the use-cases. */
export const makeIntervene = Effect.fnUntraced(function*({ get }: Pick<Reads, "get">) {
  const { afterCommit, atomically } = yield* UnitOfWork
  const blobs = yield* BlobStore
  const endAll = yield* makeEndAll
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore

  /** Deletes the files that the workers of an ended job have stored. */
  const discard = (job: JobStatus | undefined) =>
    job === undefined ? Effect.void : Effect.ignore(blobs.delete(ResultFiles.keysUpTo(job)), {
      log: "Warn",
      message: "Files of a failed job could not be deleted; the sweep retries"
    })

  const fail = Effect.fn("Generations.fail")(function*(account: string, text: string) {
    const subject = yield* get(account, text)
    if (!isFinal(subject.status)) {
      const [job] = yield* scheduler.find([GenerationId.toUuid(subject.id)])
      const [ended] = yield* endAll([{ _tag: "Abort", subject, failure: failedByOperator }])
      if (ended !== undefined && Result.isSuccess(ended)) yield* afterCommit(Effect.forkDetach(discard(job)))
    }
    // Somebody else may have ended the job, so the state that is stored now decides.
    const generation = yield* get(account, text)
    return isFailedByOperator(generation)
      ? generation
      : yield* refuse(new GenerationError.AlreadyEnded({ status: generation.status }))
  }, atomically)

  const requeue = Effect.fn("Generations.requeue")(function*(account: string, text: string) {
    const { id, status } = yield* get(account, text)
    if (isFinal(status)) return yield* refuse(new GenerationError.AlreadyEnded({ status }))
    const isRequeued = yield* scheduler.requeue(GenerationId.toUuid(id)).pipe(
      // The job has ended since it was read.
      Effect.catchTag("SchedulerError", () => Effect.succeed(false))
    )
    if (isRequeued) yield* store.endAttempts([{ id, epoch: undefined }], yield* DateTime.now, "requeued")
    const generation = yield* get(account, text)
    return isFinal(generation.status)
      ? yield* refuse(new GenerationError.AlreadyEnded({ status: generation.status }))
      : generation
  }, atomically)

  return { fail, requeue }
})

/** Returns whether an operator failed the generation. */
export const isFailedByOperator = ({ failure }: Generation): boolean =>
  failure?.code === failedByOperator.code && failure.message === failedByOperator.message
