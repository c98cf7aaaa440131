/**
 * Creates a set of generations in one unit of work: claim the request, charge, take
 * a slot or a place in the queue, record (D13). A member that is refused leaves
 * nothing behind, and does not stop the others.
 */
import type { Claim } from "@kinora/idempotency/Claim"
import { Idempotency } from "@kinora/idempotency/Idempotency"
import type { ChargeRefusal } from "@kinora/ledger/Charge"
import { Ledger } from "@kinora/ledger/Ledger"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { DateTime, Effect, Result } from "effect"
import { Changes } from "../../Changes.ts"
import { type Generation, GenerationId, type UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import { ImageStore, type Keep, type KeptImage } from "../../ImageStore.ts"
import { addressOf, generationKind } from "../jobAddress.ts"
import * as Metrics from "../metrics.ts"
import type { Admitted } from "./admission.ts"
import type { Input } from "./inputImages.ts"

/** A request that was found good, and the generation that it is to become. */
export interface Member {
  readonly claim: Claim
  readonly admitted: Admitted
  /** As it will be recorded, but for where it has to wait. */
  readonly generation: Generation
  /** The images that it starts from. */
  readonly inputs: ReadonlyArray<Input>
  /** Until when a worker may read them. */
  readonly inputsKeptUntil: DateTime.Utc
}

/** What became of a member. */
export type Creation = Result.Result<
  { readonly generation: Generation; readonly replayed: boolean },
  GenerationError.Refusal
>

/** Creates a set, one result each, in order. */
export const makeCreateAll = Effect.gen(function*() {
  const { afterCommit, atomically } = yield* UnitOfWork
  const idempotency = yield* Idempotency
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const images = yield* ImageStore
  const changes = yield* Changes

  /** Keeps the images of those that have some, for as long as their jobs may take. */
  const keepInputs = Effect.fnUntraced(function*(members: ReadonlyArray<Member>) {
    const keeps = keepsOf(members)
    const kept = keeps.length === 0 ? [] : yield* images.keep(keeps)
    return new Map(kept.map((image) => [image.id, image]))
  })

  /** Charges and places those that claimed their request; answers what each of them became. */
  const place = Effect.fnUntraced(function*(members: ReadonlyArray<Member>) {
    const placed = new Map<Member, Result.Result<Generation, GenerationError.Refusal>>()
    if (members.length === 0) return placed
    const books = yield* ledger.open({
      charges: members.map(({ generation }) => ({ account: generation.account, reference: generation.id })),
      ...spanOf(members)
    })
    const addresses = members.map(({ generation }) => addressOf(generation))
    const lanes = yield* scheduler.open({ lanes: addresses })
    const kept = yield* keepInputs(members)

    members.forEach((member, index) => {
      const { admitted, generation } = member
      const gone = goneOf(member, kept)
      if (gone !== undefined) {
        placed.set(member, Result.fail(gone))
        return
      }
      const charge = books.charge({
        account: generation.account,
        reference: generation.id,
        amount: admitted.amount,
        at: generation.createdAt
      })
      if (Result.isFailure(charge)) {
        placed.set(member, Result.fail(refusalOf(charge.failure, generation)))
        return
      }
      const job = lanes.enqueue({
        ...addresses[index]!,
        kind: generationKind,
        payload: { id: generation.id },
        cap: admitted.concurrency,
        timeLimit: admitted.timeLimit
      })
      if (Result.isFailure(job)) {
        const { max } = job.failure
        placed.set(member, Result.fail(new GenerationError.QueueFull({ plan: generation.plan, waitingMax: max })))
        return
      }
      charge.success.keep()
      job.success.keep()
      placed.set(member, Result.succeed({ ...generation, status: job.success.value.state }))
    })

    yield* books.save
    const { promoted } = yield* lanes.save
    yield* record(placed, promoted.map(GenerationId.fromUuid))
    return placed
  })

  /** Inserts the new generations, and queues those that a higher cap let through. */
  const record = Effect.fnUntraced(function*(
    placed: Map<Member, Result.Result<Generation, GenerationError.Refusal>>,
    promoted: ReadonlyArray<GenerationId>
  ) {
    const inserted = new Map<GenerationId, Generation>()
    for (const [member, result] of placed) {
      if (Result.isFailure(result)) continue
      const { id } = result.success
      const generation: Generation = promoted.includes(id) ? { ...result.success, status: "queued" } : result.success
      placed.set(member, Result.succeed(generation))
      inserted.set(id, generation)
    }
    if (inserted.size > 0) {
      yield* store.insert(Array.from(inserted.values()))
      yield* afterCommit(Metrics.created(inserted.values()))
    }
    const others = promoted.filter((id) => !inserted.has(id))
    if (others.length === 0) return
    yield* store.queue(others)
    yield* afterCommit(changes.publish(others))
  })

  return Effect.fn("Generations.createAll")(function*(members: ReadonlyArray<Member>) {
    const outcomes = yield* idempotency.claimAll(members.map(({ claim }) => claim))
    const claimed = members.filter((_, index) => outcomes[index]?._tag === "Claimed")
    const placed = yield* place(claimed)
    const refused = claimed.filter((member) => Result.isFailure(placed.get(member)!))
    if (refused.length > 0) yield* idempotency.release(refused.map(({ claim }) => claim))

    const references = outcomes.flatMap((outcome) => outcome._tag === "Replay" ? referenceOf(outcome.reference) : [])
    const earlier = references.length === 0 ? [] : yield* store.find(references)
    const earlierById = new Map<string, Generation>(earlier.map((generation) => [generation.id, generation]))

    return outcomes.map((outcome, index): Creation => {
      switch (outcome._tag) {
        case "Claimed":
          return Result.map(placed.get(members[index]!)!, (generation) => ({ generation, replayed: false }))
        case "Follower":
          return Result.map(placed.get(members[outcome.leader]!)!, (generation) => ({ generation, replayed: true }))
        case "Reused":
          return Result.fail(new GenerationError.KeyReused())
        case "Replay":
          return Result.succeed({ generation: earlierOf(earlierById, outcome.reference), replayed: true })
      }
    })
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** One for each image, until the last of the jobs has ended that start from it. */
const keepsOf = (members: ReadonlyArray<Member>): ReadonlyArray<Keep> => {
  const keeps = new Map<UploadId, Keep>()
  for (const { generation: { account }, inputs, inputsKeptUntil } of members) {
    for (const { id } of inputs) {
      const until = keeps.get(id)?.until ?? inputsKeptUntil
      keeps.set(id, { id, account, until: DateTime.max(until, inputsKeptUntil) })
    }
  }
  return Array.from(keeps.values())
}

/** Why an image that was there when the request came cannot be used any more. */
const goneOf = (
  { generation, inputs }: Member,
  kept: ReadonlyMap<UploadId, KeptImage>
): GenerationError.Refusal | undefined => {
  for (const { id, image: { index }, isUpload } of inputs) {
    const image = kept.get(id)
    if (isUpload) {
      const until = image?.usableUntil ?? undefined
      if (until === undefined || DateTime.isLessThanOrEqualTo(until, generation.createdAt)) {
        return new GenerationError.UploadNotFound({ index })
      }
    } else if (image === undefined) {
      // The request took longer than anybody waits for an answer.
      return new GenerationError.InvalidImage({ index, message: "The image was not kept. Send the request again." })
    }
  }
  return undefined
}

/** The earliest and the latest moment at which a member arrived. */
const spanOf = (members: ReadonlyArray<Member>): { readonly at: DateTime.Utc; readonly until: DateTime.Utc } => {
  const times = members.map(({ generation }) => generation.createdAt)
  return {
    at: times.reduce((a, b) => a.epochMilliseconds <= b.epochMilliseconds ? a : b),
    until: times.reduce((a, b) => a.epochMilliseconds >= b.epochMilliseconds ? a : b)
  }
}

/** Claims refer to generations only. */
const referenceOf = (reference: string): ReadonlyArray<GenerationId> => {
  const id = GenerationId.parse(reference)
  return id === undefined ? [] : [id]
}

/** A generation is recorded in the unit that claims its request, and stays. */
const earlierOf = (earlier: ReadonlyMap<string, Generation>, reference: string): Generation => {
  const generation = earlier.get(reference)
  if (generation === undefined) throw new Error(`The generation ${reference} of an earlier request is gone`)
  return generation
}

const refusalOf = (refusal: ChargeRefusal, { plan }: Generation): GenerationError.Refusal => {
  switch (refusal._tag) {
    case "InsufficientCredits":
      return new GenerationError.InsufficientCredits({
        plan,
        required: refusal.required,
        available: refusal.available
      })
    case "QuotaExceeded":
      return new GenerationError.QuotaExceeded({ plan, quotaKind: refusal.kind, resetsAt: refusal.resetsAt })
    case "AlreadyCharged":
      // The reference is the id that was made for this very request.
      throw new Error(`The new generation ${refusal.reference} was charged before`)
  }
}
