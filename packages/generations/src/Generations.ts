/** The use-cases of a generation that a client asks for. Running them is `GenerationWorker`'s. */
import { PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { Catalog } from "@kinora/catalog/Catalog"
import type { Request } from "@kinora/idempotency/Claim"
import type { Fingerprint } from "@kinora/idempotency/Fingerprint"
import { Idempotency } from "@kinora/idempotency/Idempotency"
import type { Ledger } from "@kinora/ledger/Ledger"
import type { Media } from "@kinora/media/Media"
import { Folding } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import type { BlobStore } from "@kinora/storage/BlobStore"
import type { Webhooks } from "@kinora/webhooks/Webhooks"
import { Context, DateTime, Duration, Effect, Layer, Option, Result, type Schema, type Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { Changes } from "./Changes.ts"
import { type File, type Generation, GenerationId, isFinal, type Plan, type StoredFile } from "./Generation.ts"
import * as GenerationError from "./GenerationError.ts"
import { GenerationStore, type Selection } from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import { admit, type Admitted } from "./internal/create/admission.ts"
import { type Creation, makeCreateAll, type Member } from "./internal/create/createAll.ts"
import * as Sources from "./internal/create/imageSources.ts"
import { type Input, makeInputs, requestLimit } from "./internal/create/inputImages.ts"
import { makeEndAll } from "./internal/end/endAll.ts"
import * as Watching from "./internal/read/generationWatch.ts"
import type { UsageRow, UsageSpan } from "./Usage.ts"

/** What a client's request is matched with (D14). */
export interface RequestIdentity {
  /** The account and the family of endpoints that share keys. */
  readonly scope: string
  /** The caller's key, or `undefined` for the implicit window of its endpoint. */
  readonly key: string | undefined
  /** The endpoint, which requests without a key do not cross. */
  readonly endpoint: string
  /** Of the parsed body. */
  readonly fingerprint: Fingerprint
}

/** A request for a new generation. */
export interface CreateCommand {
  readonly account: Account
  readonly plan: Plan
  readonly model: string
  /** As the client sent them, checked against the model here. */
  readonly params: Readonly<Record<string, Schema.Json>>
  readonly identity: RequestIdentity
}

/** The generation of a create request. `replayed` when an earlier request had made it. */
export interface Created {
  readonly generation: Generation
  readonly replayed: boolean
}

/** Part of an account's generations, newest first. */
export interface Page {
  readonly generations: ReadonlyArray<Generation>
  /** What `before` of the next page is; `null` when there is none. */
  readonly next: GenerationId | null
}

/** What the use-cases fail with: a refusal, or the storage. */
export type Failure = GenerationError.GenerationError | StorageError

/** Creates, reads, lists, awaits and cancels generations. Every read and change is confined to the account given. */
export class Generations extends Context.Service<Generations, {
  /**
   * The generation that an earlier request with this identity made, so that a
   * replay costs no creation budget (D13). `KeyReused` when the key stands for another body.
   */
  readonly replay: (
    account: string,
    identity: RequestIdentity
  ) => Effect.Effect<Option.Option<Generation>, Failure>

  /**
   * Checks model, plan and parameters, decodes and keeps the images, then in one unit
   * claims the identity, charges, takes a slot or a place in the queue and records
   * the generation (D13). A refusal leaves nothing behind. Concurrent calls share units.
   */
  readonly create: (command: CreateCommand) => Effect.Effect<Created, Failure>

  /** The generation as it is now. */
  readonly get: (account: string, id: string) => Effect.Effect<Generation, Failure>

  /**
   * A page of the account's generations, newest first (D38). What it costs depends on
   * its length, not on how many generations there are.
   */
  readonly list: (account: string, selection: Selection) => Effect.Effect<Page, StorageError>

  /** The generation once it is final, or as it is when `timeout` has passed (D37) or this process stops (D51). */
  readonly wait: (
    account: string,
    id: string,
    timeout: Duration.Input
  ) => Effect.Effect<Generation, Failure>

  /**
   * The generation as it is now, then as it is after each change of its state, as far
   * as it is seen: of two changes in quick succession the first may be passed over.
   * Ends after the final state (D39), or when this process stops (D51).
   */
  readonly changes: (account: string, id: string) => Stream.Stream<Generation, Failure>

  /** The account's jobs by the day on which they ended (D36), sorted by day, plan and model. */
  readonly usage: (account: string, span: UsageSpan) => Effect.Effect<ReadonlyArray<UsageRow>, StorageError>

  /**
   * Starts the implicit window of a request without a key anew, for the generation
   * that it made (D20). A request with a key keeps its window, and another account's
   * generation changes nothing.
   */
  readonly extend: (
    account: string,
    identity: RequestIdentity,
    id: GenerationId
  ) => Effect.Effect<void, StorageError>

  /**
   * Cancels a generation that has not started, and refunds it in the same unit.
   * Cancelling a cancelled one answers with it; any other final or started one is
   * `NotCancellable` (D8).
   */
  readonly cancel: (account: string, id: string) => Effect.Effect<Generation, Failure>

  /**
   * Where a file of the result is kept (D31). `account` is absent when the caller
   * proved its right by a signed URL.
   */
  readonly file: (
    id: string,
    file: File,
    account?: string
  ) => Effect.Effect<{ readonly generation: Generation; readonly file: StoredFile }, Failure>
}>()("@kinora/generations/Generations") {}

/** What the use-cases are told. */
export interface GenerationsOptions {
  /** What each tier allows. Default: the table of `interface.md` and D25. */
  readonly planTable?: PlanTable.PlanTable | undefined
  /** How often a waiting call looks without having been woken. Default 1 second. */
  readonly lookEvery?: Duration.Input | undefined
  /** How long a job may wait before it starts, as `GenerationSweep` is told. Default 24 hours. */
  readonly queueLimit?: Duration.Input | undefined
  /** The longest input image, decoded, in bytes (D18). Default 10 MiB. */
  readonly imageBytesMax?: number | undefined
  /** Requests whose input images are decoded at the same time; the others wait. Each holds one image. Default 4. */
  readonly imageRequestsMax?: number | undefined
}

/** The use-cases over the surrounding services. */
export const make = Effect.fnUntraced(function*(options: GenerationsOptions) {
  const { imageBytesMax = 10 * 1024 ** 2, imageRequestsMax = 4, lookEvery = "1 second" } = options
  const { planTable = PlanTable.defaults, queueLimit = "24 hours" } = options
  const catalog = yield* Catalog
  const changes = yield* Changes
  const idempotency = yield* Idempotency
  const random = yield* SecureRandom.SecureRandom
  const store = yield* GenerationStore
  const inputsOf = yield* makeInputs({ imageBytesMax, imageRequestsMax })
  const createOne = yield* Folding.make({ name: "Generations.create", run: yield* makeCreateAll })
  const endOne = yield* Folding.make({ name: "Generations.end", run: yield* makeEndAll })

  const findAll = (ids: ReadonlyArray<GenerationId>) =>
    Effect.map(store.find(ids), (found) => {
      const byId = new Map(found.map((generation) => [generation.id, generation]))
      return ids.map((id) => Option.fromUndefinedOr(byId.get(id)))
    })
  const find = yield* Folding.make({ name: "Generations.find", membersMax: 256, setsMax: 4, run: findAll })

  const get = Effect.fn("Generations.get")(function*(account: string, text: string) {
    const id = GenerationId.parse(text)
    const found = id === undefined ? Option.none() : yield* find(id)
    if (Option.isNone(found) || found.value.account !== account) return yield* refuse(new GenerationError.NotFound())
    return found.value
  })

  const watching = Watching.make({ changes, get, patience: Duration.fromInputUnsafe(lookEvery) })

  const replay = Effect.fn("Generations.replay")(function*(account: string, identity: RequestIdentity) {
    const found = yield* idempotency.find(requestOf(identity, yield* DateTime.now))
    if (found._tag === "Reused") return yield* refuse(new GenerationError.KeyReused())
    return found._tag === "None" ? Option.none() : Option.some(yield* get(account, found.reference))
  })

  const create = Effect.fn("Generations.create")(function*(command: CreateCommand) {
    const at = yield* DateTime.now
    const admitted = yield* Effect.fromResult(
      admit({ ...command, modelId: command.model, model: catalog.find(command.model) }, planTable, at)
    ).pipe(Effect.catch(refuse))
    const sources = yield* Effect.fromResult(Sources.parse(command.params["images"], imageBytesMax)).pipe(
      Effect.catch(refuse)
    )
    const inputs = yield* inputsOf.take(command.account.id, sources, at)
    const id = yield* Effect.provideService(GenerationId.make, SecureRandom.SecureRandom, random)
    const created = yield* createOne(memberOf({ command, admitted, inputs, id, at, queueLimit })).pipe(
      Effect.catchTag(
        "IdempotencyError",
        () => Effect.succeed<Creation>(Result.fail(new GenerationError.KeyInProgress()))
      )
    )
    // Only where it is known that no job has them: of a call that failed or was left it is not.
    if (Result.isFailure(created) || created.success.replayed) yield* inputsOf.discard(inputs)
    return Result.isSuccess(created) ? created.success : yield* refuse(created.failure)
  })

  const list = Effect.fn("Generations.list")(function*(account: string, selection: Selection) {
    // One more than is shown tells whether there is a next page.
    const found = yield* store.list(account, { ...selection, limit: selection.limit + 1 })
    const generations = found.slice(0, selection.limit)
    const last = found.length > selection.limit ? generations.at(-1) : undefined
    return { generations, next: last?.id ?? null }
  })

  const usage = Effect.fn("Generations.usage")((account: string, span: UsageSpan) => store.usage(account, span))

  const extend = Effect.fn("Generations.extend")(
    function*(account: string, identity: RequestIdentity, id: GenerationId) {
      const found = yield* find(id)
      if (Option.isNone(found) || found.value.account !== account) return
      yield* idempotency.extend({ ...requestOf(identity, yield* DateTime.now), reference: id })
    }
  )

  const cancel = Effect.fn("Generations.cancel")(function*(account: string, text: string) {
    const subject = yield* get(account, text)
    // One that has started never goes back (D7), so nothing needs to be locked for it.
    const isWaiting = subject.status === "pending" || subject.status === "queued"
    if (isWaiting) yield* endOne({ _tag: "Cancel", subject })
    const generation = yield* get(account, text)
    if (generation.status === "cancelled") return generation
    // One that is not final was claimed by a worker that has not told so yet.
    const status = isFinal(generation.status) ? generation.status : "processing"
    return yield* refuse(new GenerationError.NotCancellable({ plan: generation.plan, status }))
  })

  const file = Effect.fn("Generations.file")(function*(text: string, file: File, account?: string) {
    const id = GenerationId.parse(text)
    const found = id === undefined ? Option.none() : yield* find(id)
    if (Option.isNone(found) || (account !== undefined && found.value.account !== account)) {
      return yield* refuse(new GenerationError.NotFound())
    }
    const stored = fileOf(found.value, file, yield* DateTime.now)
    return Result.isSuccess(stored)
      ? { generation: found.value, file: stored.success }
      : yield* refuse(stored.failure)
  })

  return Generations.of({ replay, create, get, list, ...watching, usage, extend, cancel, file })
})

/** What the use-cases are built on. */
export type Requirements =
  | BlobStore
  | Catalog
  | Changes
  | GenerationStore
  | Idempotency
  | ImageStore
  | Ledger
  | Media
  | Scheduler
  | SecureRandom.SecureRandom
  | UnitOfWork
  | Webhooks

/** The use-cases with these options. */
export const layerWith = (options: GenerationsOptions): Layer.Layer<Generations, never, Requirements> =>
  Layer.effect(Generations, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Generations, never, Requirements> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (reason: GenerationError.Refusal) => Effect.fail(new GenerationError.GenerationError({ reason }))

const requestOf = ({ endpoint, fingerprint, key, scope }: RequestIdentity, at: DateTime.Utc): Request => ({
  scope,
  key: key === undefined ? { _tag: "Implicit", endpoint } : { _tag: "Explicit", text: key },
  fingerprint,
  at
})

const memberOf = ({ admitted, at, command, id, inputs, queueLimit }: {
  readonly command: CreateCommand
  readonly admitted: Admitted
  readonly inputs: ReadonlyArray<Input>
  readonly id: GenerationId
  readonly at: DateTime.Utc
  readonly queueLimit: Duration.Input
}): Member => ({
  claim: { ...requestOf(command.identity, at), reference: id },
  admitted,
  inputs,
  // As long as it may wait and then run, and some time for sweeps and clocks.
  inputsKeptUntil: at.pipe(
    DateTime.addDuration(queueLimit),
    DateTime.addDuration(admitted.timeLimit),
    DateTime.addDuration(requestLimit)
  ),
  generation: {
    id,
    account: command.account.id,
    model: command.model,
    kind: admitted.resolved.kind,
    mode: admitted.resolved.mode,
    plan: command.plan,
    status: "pending",
    prompt: admitted.resolved.prompt,
    params: admitted.resolved.params,
    images: inputs.map(({ image }) => image),
    costCredits: admitted.amount._tag === "Credits" ? admitted.amount.credits : null,
    quotaKind: admitted.amount._tag === "Quota" ? admitted.resolved.kind : null,
    refunded: false,
    failure: null,
    output: null,
    resultExpiresAt: null,
    createdAt: at,
    startedAt: null,
    finishedAt: null
  }
})

/** The file that a client asks for, or why there is none (D31). */
const fileOf = (
  { output, resultExpiresAt, status }: Generation,
  file: File,
  now: DateTime.Utc
): Result.Result<StoredFile, GenerationError.Refusal> => {
  if (!isFinal(status)) return Result.fail(new GenerationError.ResultNotReady({ status }))
  if (resultExpiresAt === null) return Result.fail(new GenerationError.ResultNotFound({ status }))
  if (output === null || DateTime.isLessThanOrEqualTo(resultExpiresAt, now)) {
    return Result.fail(new GenerationError.ResultExpired({ expiredAt: resultExpiresAt }))
  }
  const stored = output[file]
  return stored === null ? Result.fail(new GenerationError.ResultNotFound({ status })) : Result.succeed(stored)
}
