/** The use-case `Generations.create`: everything before and after the unit of work that creates a set of jobs. */
import type { PlanTable } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog/Catalog"
import { Moderation, none } from "@kinora/moderation/Moderation"
import { Folding } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, type Duration, Effect, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { type CreateCommand, type Created, Preparation, type RequestIdentity } from "../../CreateCommand.ts"
import { type Generation, GenerationId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { ModelStatuses } from "../../ModelStatuses.ts"
import { orRefuse, refuse } from "../refuse.ts"
import { admit } from "./admission.ts"
import * as AdmittedJob from "./admittedJob.ts"
import { makeCheapChecks } from "./cheapChecks.ts"
import { makeCreateAll } from "./createAll.ts"
import * as ImageSources from "./imageSources.ts"
import { type InputImagesOptions, makeInputImages } from "./inputImages.ts"
import { type InputModerationOptions, makeModerateInput } from "./inputModeration.ts"

/** Options for `makeCreate`. */
export interface CreateOptions extends InputImagesOptions, InputModerationOptions {
  readonly planTable: PlanTable.PlanTable
  /** How long a job may wait before it starts. */
  readonly queueLimit: Duration.Input
  /** Returns the generation that an earlier request with the same identity created. */
  readonly replay: (
    account: string,
    identity: RequestIdentity
  ) => Effect.Effect<Option.Option<Generation>, GenerationError.GenerationError | StorageError>
}

/** Makes the use-case. Concurrent calls share units of work. */
export const makeCreate = Effect.fnUntraced(
  function*({ moderationsMax, planTable, queueLimit, replay, ...imageOptions }: CreateOptions) {
    const { find } = yield* Catalog
    const { current } = yield* ModelStatuses
    const random = yield* SecureRandom.SecureRandom
    const moderateInput = yield* makeModerateInput({ moderationsMax })
    const isModerated = (yield* Moderation) !== none
    const inputImages = yield* makeInputImages({ ...imageOptions, isModerated })
    const cheapChecks = yield* makeCheapChecks
    const createOne = yield* Folding.makeResult({
      name: "Generations.create",
      keyOf: (job: AdmittedJob.AdmittedJob) => job.generation.account,
      run: yield* makeCreateAll(planTable)
    })

    /** Fails with the refusal, unless the same request created a job meanwhile or under an earlier verdict. */
    const earlierOr = (command: CreateCommand, refusal: GenerationError.GenerationError | StorageError) =>
      Effect.flatMap(replay(command.account.id, command.identity), (earlier) =>
        Option.isNone(earlier)
          ? Effect.fail(refusal)
          : Effect.succeed<Created>({ generation: earlier.value, replayed: true }))

    /** Claims, charges and inserts the job. */
    const commit = (job: AdmittedJob.AdmittedJob) =>
      createOne(job).pipe(
        Effect.catchTag("IdempotencyError", () => Effect.fail(new GenerationError.KeyInProgress())),
        // After a storage failure or an interruption, a job may refer to the images, so they stay until the sweep.
        Effect.catch((error): Effect.Effect<never, GenerationError.GenerationError | StorageError> =>
          error._tag === "StorageError"
            ? Effect.fail(error)
            : Effect.andThen(inputImages.discard(job.inputs), refuse(error))
        )
      )

    return Effect.fn("Generations.create")(function*(command: CreateCommand) {
      const at = yield* DateTime.now
      const terms = yield* orRefuse(admit(command, { find, planTable, statusOf: yield* current }, at))
      // Without images and moderation nothing precedes the unit of work, which checks the same.
      if (isModerated || imagesOf(command).length > 0) {
        const refused = yield* Effect.result(
          cheapChecks({ command, terms, at })
        )
        if (Result.isFailure(refused)) return yield* earlierOr(command, refused.failure)
      }
      const sources = yield* Effect.forEach(
        imagesOf(command),
        (image, index) => Effect.catch(ImageSources.parse(image, index, imageOptions.imageBytesMax), refuse)
      )
      const { run: prepare } = yield* Preparation
      const inputs = sources.length === 0 ? [] : yield* prepare(inputImages.take(command.account.id, sources, at))
      const id = yield* Effect.provideService(GenerationId.make, SecureRandom.SecureRandom, random)
      const job = AdmittedJob.make({ command, terms, inputs, id, at, queueLimit })
      const created = yield* isModerated
        ? prepare(moderateInput(job.generation)).pipe(
          // No unit of work has started, so no job can refer to the images.
          Effect.onError(() => inputImages.discard(inputs)),
          Effect.matchEffect({
            onFailure: (refusal) => earlierOr(command, refusal),
            onSuccess: () => commit(job)
          })
        )
        : commit(job)
      if (created.replayed) yield* inputImages.discard(inputs)
      return created
    })
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The images of a request. Their number is checked with the other parameters. */
const imagesOf = ({ params: { images } }: CreateCommand): ReadonlyArray<unknown> => Array.isArray(images) ? images : []
