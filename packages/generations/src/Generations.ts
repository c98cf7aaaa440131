/**
 * The use-cases of generations that clients ask for. `GenerationWorker` runs the jobs,
 * `GenerationSweep` ends those that nobody else ends.
 */
import { PlanTable } from "@kinora/accounts"
import type { Accounts } from "@kinora/accounts/Accounts"
import type { Catalog } from "@kinora/catalog/Catalog"
import type { Idempotency } from "@kinora/idempotency/Idempotency"
import type { Ledger } from "@kinora/ledger/Ledger"
import type { Media } from "@kinora/media/Media"
import type { Moderation } from "@kinora/moderation/Moderation"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { RateLimit } from "@kinora/rate-limit/RateLimit"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import type { BlobStore } from "@kinora/storage/BlobStore"
import type { Webhooks } from "@kinora/webhooks/Webhooks"
import { Context, type DateTime, Duration, Effect, Layer, type Option, type Stream } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Changes } from "./Changes.ts"
import type { CreateCommand, Created, RequestIdentity } from "./CreateCommand.ts"
import type { File, Generation, GenerationId, StoredFile } from "./Generation.ts"
import type { GenerationError } from "./GenerationError.ts"
import type { GenerationStore } from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import { makeCreate } from "./internal/create/create.ts"
import { makeReplay } from "./internal/create/replay.ts"
import { makeCancel } from "./internal/end/cancel.ts"
import { makeIntervene } from "./internal/end/intervene.ts"
import { inputPixelsPerMinuteDefault } from "./internal/images/inputPixels.ts"
import { makeAccountWatch } from "./internal/read/accountWatch.ts"
import { makeWatch } from "./internal/read/generationWatch.ts"
import { makeReads } from "./internal/read/reads.ts"
import { type ListCriteria, makeSearch, type SearchCriteria } from "./internal/read/search.ts"
import type { ModelStatuses } from "./ModelStatuses.ts"
import type { UsageReads } from "./Usage.ts"

export type { CreateCommand, Created, RequestIdentity } from "./CreateCommand.ts"
export { isFailedByOperator } from "./internal/end/intervene.ts"
export type { ListCriteria, SearchCriteria } from "./internal/read/search.ts"

/** One page of a list, newest first. */
export interface Page {
  readonly generations: ReadonlyArray<Generation>
  /** Value of `before` for the next page; `null` on the last page. */
  readonly next: GenerationId | null
}

/** Errors of the use-cases. */
export type Failure = GenerationError | StorageError

/**
 * Creates, reads, lists, awaits and ends generations. Reads and changes are confined
 * to the given account: another account's generation is `NotFound`.
 */
export class Generations extends Context.Service<
  Generations,
  UsageReads & {
    /**
     * Returns the generation that an earlier request with this identity created, if any.
     * Call it before rate limits that replays must not count towards. Fails with
     * `KeyReused` if the key belongs to a request with another body.
     */
    readonly replay: (
      account: string,
      identity: RequestIdentity
    ) => Effect.Effect<Option.Option<Generation>, Failure>

    /**
     * Creates a generation, or returns the one that the same request created before.
     *
     * Validates model, plan and parameters, and checks credits or quota and the room in the
     * queue. Then it stores the input images and asks the `Moderation`, unless it accepts
     * everything. At last one unit of work claims the identity, charges the account, takes a slot or a place in the queue
     * and inserts the generation. A refused call leaves nothing behind, so its key can be
     * used again. Concurrent calls share units of work.
     */
    readonly create: (command: CreateCommand) => Effect.Effect<Created, Failure>

    /** Returns the generation. */
    readonly get: (account: string, id: string) => Effect.Effect<Generation, Failure>

    /**
     * Returns a page of the account's generations, newest first. The cost depends on the length of the page only. With
     * `model`, `key` or `text`, a call reads at most `filteredMax` generations of the account, so that a page can have fewer than
     * `limit` generations although another one follows.
     */
    readonly list: (account: string, criteria: ListCriteria) => Effect.Effect<Page, StorageError>

    /** Returns a page of the generations of all accounts, newest first, for operators; with `account`, like `list`. */
    readonly search: (criteria: SearchCriteria) => Effect.Effect<Page, StorageError>

    /** Returns the generation once it is final, or its current state after `timeout` or when the process shuts down. */
    readonly wait: (
      account: string,
      id: string,
      timeout: Duration.Input
    ) => Effect.Effect<Generation, Failure>

    /**
     * Emits the generation now and after each change of its state. Of two changes in
     * quick succession, the first may be skipped. Ends after the final state, or when the
     * process shuts down.
     */
    readonly changes: (account: string, id: string) => Stream.Stream<Generation, Failure>

    /**
     * Emits the account's generations when they are created and when they change their state, from now on. Of two changes
     * of a generation in quick succession, the first may be skipped. With `since`, begins with the newest 100 that have not
     * ended, or that ended after that time or shortly before. Ends when the process shuts down.
     */
    readonly accountChanges: (account: string, since?: DateTime.Utc) => Stream.Stream<Generation, StorageError>

    /**
     * Restarts the window in which requests without a key match this request, which
     * created the generation `id`. Has no effect on a request with a key or on another
     * account's generation.
     */
    readonly extend: (
      account: string,
      identity: RequestIdentity,
      id: GenerationId
    ) => Effect.Effect<void, StorageError>

    /**
     * Cancels a generation that has not started and refunds it in the same unit of work.
     * Returns a generation that is already cancelled. Fails with `NotCancellable` if the
     * generation has started or ended.
     */
    readonly cancel: (account: string, id: string) => Effect.Effect<Generation, Failure>

    /**
     * Fails a generation that has not ended, for an operator, and refunds it in the same unit of
     * work. Its worker stops at its next heartbeat, and its result is not accepted. Returns a
     * generation that was failed like this before. Fails with `AlreadyEnded` otherwise.
     */
    readonly fail: (account: string, id: string) => Effect.Effect<Generation, Failure>

    /**
     * Takes a started generation from its worker, for an operator, and queues it again without
     * counting the attempt. The worker stops at its next heartbeat, and its result is not accepted.
     * Changes nothing if no worker runs it. Fails with `AlreadyEnded` if it has ended.
     */
    readonly requeue: (account: string, id: string) => Effect.Effect<Generation, Failure>

    /**
     * Returns the location of a result file. Without `account`, the caller has verified a
     * signed URL and any account's file is returned.
     */
    readonly file: (
      id: string,
      file: File,
      account?: string
    ) => Effect.Effect<{ readonly generation: Generation; readonly file: StoredFile }, Failure>
  }
>()("@kinora/generations/Generations") {}

/** Options for `Generations.layerWith`. */
export interface GenerationsOptions {
  /**
   * Time for which a generation with a result is kept in memory for further calls of `file`, which then need no statement.
   * For that time a result remains available after its account was erased. Default 1 second.
   */
  readonly resultAge?: Duration.Input | undefined
  /** Slots, quotas and prices of the plan tiers. Default: `PlanTable.defaults`. */
  readonly planTable?: PlanTable.PlanTable | undefined
  /**
   * How often a waiting call reads the generation while the changes of other processes do not arrive (`Changes.setConnected`).
   * While they arrive, it reads every 10 seconds, or this often if that is less often. Default 1 second.
   */
  readonly lookEvery?: Duration.Input | undefined
  /** How often a stream of an account reads its newest generations without a notification. Default 10 seconds. */
  readonly accountLookEvery?: Duration.Input | undefined
  /** Maximum number of changed generations that a stream of an account holds for a slow reader. Default 1,000. */
  readonly accountHeldMax?: number | undefined
  /** Maximum number of an account's generations that a list filtered by model, key or text reads per page. Default 1,000. */
  readonly filteredMax?: number | undefined
  /** How long a job may wait before it starts. Use the value given to `GenerationSweep`. Default 24 hours. */
  readonly queueLimit?: Duration.Input | undefined
  /** Maximum length of an input image, decoded, in bytes. Default 10 MiB. */
  readonly imageBytesMax?: number | undefined
  /** Maximum number of pixels of the input images of an account per calendar minute, with those of `Uploads`. Default 500 million. */
  readonly inputPixelsPerMinute?: number | undefined
  /**
   * Maximum number of requests whose input images are decoded at the same time. Each holds
   * one image. An account has at most half of the places. Default 4.
   */
  readonly imageRequestsMax?: number | undefined
  /**
   * Maximum number of requests whose input is moderated at the same time. Each holds its
   * images. An account has at most half of the places. Default 8.
   */
  readonly moderationsMax?: number | undefined
}

/** Services that the use-cases require. */
export type Requirements =
  | Accounts
  | BlobStore
  | Catalog
  | Changes
  | GenerationStore
  | Idempotency
  | ImageStore
  | Ledger
  | Media
  | ModelStatuses
  | Moderation
  | RateLimit
  | Scheduler
  | SecureRandom.SecureRandom
  | UnitOfWork
  | Webhooks

/** Makes the use-cases. */
export const make = Effect.fnUntraced(function*(options: GenerationsOptions) {
  const { imageBytesMax = 10 * 1024 ** 2, imageRequestsMax = 4, lookEvery = "1 second" } = options
  const { accountHeldMax = 1_000, accountLookEvery = "10 seconds" } = options
  const { filteredMax = 1_000, inputPixelsPerMinute = inputPixelsPerMinuteDefault } = options
  const { moderationsMax = 8, planTable = PlanTable.defaults, queueLimit = "24 hours" } = options
  const { file, find, get, usage, usageByKey } = yield* makeReads(
    Duration.fromInputUnsafe(options.resultAge ?? "1 second")
  )
  const { list, search } = yield* makeSearch({ filteredMax })
  const { changes, wait } = yield* makeWatch({ get, pollInterval: Duration.fromInputUnsafe(lookEvery) })
  const accountChanges = yield* makeAccountWatch({
    pollInterval: Duration.fromInputUnsafe(accountLookEvery),
    heldMax: accountHeldMax
  })
  const { extend, replay } = yield* makeReplay({ find, get })
  const create = yield* makeCreate({
    imageBytesMax,
    imageRequestsMax,
    inputPixelsPerMinute,
    moderationsMax,
    planTable,
    queueLimit,
    replay
  })
  const cancel = yield* makeCancel({ get })
  const { fail, requeue } = yield* makeIntervene({ get })
  return Generations.of({
    replay,
    create,
    get,
    list,
    search,
    wait,
    changes,
    accountChanges,
    usage,
    usageByKey,
    extend,
    cancel,
    fail,
    requeue,
    file
  })
})

/** The use-cases with these options. */
export const layerWith = (options: GenerationsOptions): Layer.Layer<Generations, never, Requirements> =>
  Layer.effect(Generations, make(options))

/** The use-cases with default options. */
export const layer: Layer.Layer<Generations, never, Requirements> = layerWith({})
