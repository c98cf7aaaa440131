/** The use-case `Generations.create`: everything before and after the unit of work that creates a set of jobs. */
import type { PlanTable } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog/Catalog"
import { Folding } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, type Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { CreateCommand } from "../../CreateCommand.ts"
import { GenerationId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { orRefuse, refuse } from "../refuse.ts"
import { admit } from "./admission.ts"
import * as AdmittedJob from "./admittedJob.ts"
import { makeCreateAll } from "./createAll.ts"
import * as ImageSources from "./imageSources.ts"
import { type InputImagesOptions, makeInputImages } from "./inputImages.ts"

/** Options for `makeCreate`. */
export interface CreateOptions extends InputImagesOptions {
  readonly planTable: PlanTable.PlanTable
  /** How long a job may wait before it starts. */
  readonly queueLimit: Duration.Input
}

/** Makes the use-case. Concurrent calls share units of work. */
export const makeCreate = Effect.fnUntraced(function*({ planTable, queueLimit, ...imageOptions }: CreateOptions) {
  const { find } = yield* Catalog
  const random = yield* SecureRandom.SecureRandom
  const inputImages = yield* makeInputImages(imageOptions)
  const createOne = yield* Folding.makeResult({ name: "Generations.create", run: yield* makeCreateAll })

  return Effect.fn("Generations.create")(function*(command: CreateCommand) {
    const at = yield* DateTime.now
    const terms = yield* orRefuse(admit(command, { find, planTable }, at))
    const sources = yield* orRefuse(ImageSources.parse(command.params["images"], imageOptions.imageBytesMax))
    const inputs = yield* inputImages.take(command.account.id, sources, at)
    const id = yield* Effect.provideService(GenerationId.make, SecureRandom.SecureRandom, random)
    const job = AdmittedJob.make({ command, terms, inputs, id, at, queueLimit })
    const created = yield* createOne(job).pipe(
      Effect.catchTag("IdempotencyError", () => Effect.fail(new GenerationError.KeyInProgress())),
      // After a storage failure or an interruption, a job may refer to the images, so they stay until the sweep.
      Effect.catch((error): Effect.Effect<never, GenerationError.GenerationError | StorageError> =>
        error._tag === "StorageError"
          ? Effect.fail(error)
          : Effect.andThen(inputImages.discard(inputs), refuse(error))
      )
    )
    if (created.replayed) yield* inputImages.discard(inputs)
    return created
  })
})
