/** Storage port of the models that operators have paused. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"

/** A model that accepts no new jobs, and whose waiting jobs are not started, until an operator resumes it. */
export interface ModelPause {
  /** Id of the model, or an alias of it. */
  readonly model: string
  readonly at: DateTime.Utc
}

/** Stores pauses, at most one per model. */
export class ModelPauses extends Context.Service<ModelPauses, {
  /** Returns all pauses, in no order. */
  readonly list: Effect.Effect<ReadonlyArray<ModelPause>, StorageError>
  /** Pauses a model. Keeps an earlier pause. */
  readonly pause: (pause: ModelPause) => Effect.Effect<void, StorageError>
  /** Ends the pauses under these ids. */
  readonly resume: (models: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/ModelPauses") {}
