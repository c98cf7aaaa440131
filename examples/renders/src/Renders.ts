/** A service that renders scenes for credits. */
import { Fingerprint, Idempotency, IdempotencyKey } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { JobHandler, JobKind, Scheduler, Worker } from "@kinora/scheduler"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Digest, SecureRandom } from "effect/crypto"

/** Credits that a scene costs. */
export const price = 40

/** A scene that a customer orders. */
export interface Order {
  readonly customer: string
  /** The customer's `Idempotency-Key`. */
  readonly key: string
  readonly scene: string
}

/** Orders of customers. */
const make = Effect.gen(function*() {
  const { charge } = yield* Ledger.Ledger
  const { enqueue } = yield* Scheduler.Scheduler
  const { once } = yield* Idempotency.Idempotency
  const { uuidV7 } = yield* SecureRandom.SecureRandom

  /**
   * Charges the scene and queues its job, or returns the job that the same request has queued before. The claim of the
   * key, the charge and the job are one unit of work: a customer without credits has none of them.
   */
  const order = Effect.fn("Renders.order")(function*({ customer, key, scene }: Order) {
    const job = yield* uuidV7()
    const claim = {
      scope: customer,
      key: IdempotencyKey.IdempotencyKey.Explicit({ text: key }),
      fingerprint: yield* Fingerprint.make({ scene }),
      reference: job
    }
    const amount = { _tag: "Credits", credits: price } as const
    const at = yield* DateTime.now
    const outcome = yield* once(
      claim,
      charge({ account: customer, reference: job, amount, at }).pipe(
        Effect.andThen(enqueue({ job, lane: customer, group: customer, cap: 1, kind: Scene, payload: { scene } }))
      )
    )
    return outcome._tag === "Done" ? job : outcome.reference
  })

  return { order }
})

/** The service. */
export class Renders extends Context.Service<Renders>()("example/Renders", { make }) {}

const Scene = JobKind.make({ name: "scene", payload: Schema.Struct({ scene: Schema.String }) })

/** Renders the scene of a job. */
export type Render<E> = (job: string, scene: string) => Effect.Effect<void, E>

/** A worker. The refund of a job that fails, or that three workers have lost, is one unit of work with its end. */
export const layerWorker = <E>(render: Render<E>) =>
  Layer.unwrap(Effect.gen(function*() {
    const { refund } = yield* Ledger.Ledger
    const { settle } = yield* Scheduler.Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork

    const end = Effect.fnUntraced(function*({ job, outcome: isRendered }: JobHandler.Settlement<boolean>) {
      if (!isRendered) yield* refund({ account: job.group, reference: job.job, at: yield* DateTime.now })
      yield* settle(job)
    }, atomically)

    const handler = JobHandler.make({
      kind: Scene,
      run: ({ job, payload }) => Effect.as(render(job, payload.scene), true),
      failed: () => Effect.succeed(false),
      settle: (settlements) =>
        Effect.forEach(settlements, (settlement) =>
          end(settlement).pipe(
            // Another worker has the job: nothing of this settlement is kept.
            Effect.catchReason("SchedulerError", "LeaseLost", () => Effect.void),
            // Each job is charged, and ends once.
            Effect.catchTags({ LedgerError: Effect.die, SchedulerError: Effect.die })
          ), { discard: true })
    })
    return Worker.layer({ name: "renders", handlers: [handler] })
  }))

/** Orders and the tables of the three packages, on the client of the service. */
export const layer = Layer.effect(Renders, make).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Idempotency.layerPostgres(), Ledger.layerPostgres(), Scheduler.layerPostgres(), UnitOfWork.layerSql)
  ),
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto))
)
