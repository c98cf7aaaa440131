/**
 * Carries hints between the processes of one Postgres: "there may be work", "there may
 * be webhooks to send" and "these generations changed". Hints are sent outside of transactions and many at
 * a time, since a `NOTIFY` inside a transaction serialises the commits of the whole
 * database. Whatever is lost on the way, those who wait find by asking.
 */
import { PgClient } from "@effect/sql-pg"
import { Changes } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Wakeup } from "@kinora/scheduler"
import { Wakeup as WebhookWakeup } from "@kinora/webhooks"
import { Duration, Effect, Latch, Layer, Option, PubSub, Schedule, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"

/** How long hints are collected before they are sent. */
const collectFor = Duration.millis(5)
/** Ids in one notification, whose payload Postgres limits to 8,000 bytes. */
const idsMax = 200
/** Pause before listening again on a new connection. */
const reconnectAfter = Duration.millis(200)
const channel = "kinora"

/** Wakes and changes that reach every process on this database. */
export const layer: Layer.Layer<Hinted, never, PgClient.PgClient | SecureRandom.SecureRandom> = Layer.unwrap(
  Effect.gen(function*() {
    const sender = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    const outbox = yield* makeOutbox(sender)
    const work = yield* PubSub.sliding<void>(1)
    const webhooks = yield* PubSub.sliding<void>(1)

    const changes = Changes.layerWith({ broadcast: (changed) => outbox.add({ changed }) })
    const wakeups = Layer.mergeAll(
      Wakeup.layerWith({ publish: outbox.add({ work: true }), subscribe: Stream.fromPubSub(work) }),
      WebhookWakeup.layerWith({ publish: outbox.add({ webhooks: true }), subscribe: Stream.fromPubSub(webhooks) })
    )
    const inbox = Layer.effectDiscard(Effect.gen(function*() {
      const { receive } = yield* Changes.Changes
      const wakeAll = (hint: Pick<typeof Hint.Type, "webhooks" | "work">) =>
        Effect.all([
          hint.work ? PubSub.publish(work, undefined) : Effect.void,
          hint.webhooks === true ? PubSub.publish(webhooks, undefined) : Effect.void
        ])
      yield* Effect.forkScoped(listen({
        connected: wakeAll({ work: true, webhooks: true }),
        hint: (hint) => hint.from === sender ? Effect.void : Effect.andThen(receive(hint.changed), wakeAll(hint))
      }))
    }))
    return Layer.mergeAll(wakeups, inbox).pipe(Layer.provideMerge(changes))
  })
)

/** For a process that shares its database with nobody. */
export const layerLocal: Layer.Layer<Hinted> = Layer.mergeAll(Wakeup.layer, WebhookWakeup.layer, Changes.layer)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Those who are told. */
type Hinted = Changes.Changes | Wakeup.Wakeup | WebhookWakeup.Wakeup

const Hint = Schema.fromJsonString(Schema.Struct({
  /** Who sent it, so that a process does not wake itself twice. */
  from: Schema.String,
  work: Schema.Boolean,
  /** A build from before there were webhooks does not send it, and passes over it. */
  webhooks: Schema.optionalKey(Schema.Boolean),
  changed: Schema.Array(GenerationId.schema)
}))

/** What a process has to say; `false`, or absent: nothing. */
interface News {
  readonly changed?: ReadonlyArray<GenerationId>
  readonly webhooks?: boolean
  readonly work?: boolean
}

/** Collects hints and sends them from a fiber of its own. */
const makeOutbox = Effect.fnUntraced(function*(sender: string) {
  const pg = yield* PgClient.PgClient
  const filled = yield* Latch.make(false)
  const waiting = new Set<GenerationId>()
  const wakes = { webhooks: false, work: false }

  const take = () => {
    const changed = Array.from(waiting).slice(0, idsMax)
    changed.forEach((id) => waiting.delete(id))
    const hint = { from: sender, ...wakes, changed }
    wakes.webhooks = false
    wakes.work = false
    if (waiting.size === 0) filled.closeUnsafe()
    return hint
  }

  yield* filled.await.pipe(
    Effect.andThen(Effect.sleep(collectFor)),
    Effect.andThen(Effect.suspend(() => Schema.encodeEffect(Hint)(take()))),
    Effect.flatMap((payload) => pg.notify(channel, payload)),
    // Hints may be lost; a database that is gone is noticed by those who need it. A driver
    // may die of that instead of failing, which must not be the last that is heard from here.
    Effect.ignoreCause({ log: "Debug" }),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    add: ({ changed = [], webhooks = false, work = false }: News) =>
      Effect.sync(() => {
        if (changed.length === 0 && !webhooks && !work) return
        for (const id of changed) waiting.add(id)
        wakes.webhooks ||= webhooks
        wakes.work ||= work
        filled.openUnsafe()
      })
  }
})

/** Listens until interrupted. `connected` runs after each connection, for what was missed without one. */
const listen = Effect.fnUntraced(function*(on: {
  readonly connected: Effect.Effect<unknown>
  readonly hint: (hint: typeof Hint.Type) => Effect.Effect<unknown>
}) {
  const pg = yield* PgClient.PgClient
  const notifications = Stream.unwrap(
    pg.listen(channel).pipe(Effect.tap(() => on.connected), Effect.map(Stream.fromQueue))
  )
  yield* notifications.pipe(
    Stream.runForEach(({ payload }) =>
      Effect.flatMap(
        // A newer build may send what this one does not know.
        Schema.decodeUnknownEffect(Hint)(payload).pipe(Effect.option),
        Option.match({ onNone: () => Effect.void, onSome: on.hint })
      )
    ),
    Effect.ignoreCause({ log: "Debug" }),
    Effect.repeat(Schedule.spaced(reconnectAfter))
  )
})
