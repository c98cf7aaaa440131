/**
 * Wake-ups between the processes of one Postgres: new jobs, new webhooks, changed
 * generations and callbacks of upstreams. Sent outside of transactions and in batches, since a `NOTIFY` in a
 * transaction serialises the commits of the whole database. A lost notification only
 * delays its receivers, which also poll.
 */
import { PgClient } from "@effect/sql-pg"
import { Callbacks, Changes } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Wakeup } from "@kinora/scheduler"
import { Wakeup as WebhookWakeup } from "@kinora/webhooks"
import { Duration, Effect, Latch, Layer, Option, PubSub, Schedule, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"

/** How long notifications are collected before they are sent. */
const collectFor = Duration.millis(5)
/** Maximum number of ids in a notification, about 5,000 bytes. Postgres rejects a payload of 8,000 bytes. */
const idsMax = 150
/**
 * Maximum length of the kinds of jobs that a notification names, in characters of at most 3 bytes in UTF-8. A notification with
 * more kinds names none, and wakes all workers.
 */
const kindsLengthMax = 800
/** Maximum number of notifications of jobs that wait until workers are woken, which takes no time. */
const workMax = 16
/** Delay before a lost connection is replaced. */
const reconnectAfter = Duration.millis(200)
const channel = "kinora"

/** Notifications between all processes on this database. */
export const layer: Layer.Layer<Hinted, never, PgClient.PgClient | SecureRandom.SecureRandom> = Layer.unwrap(
  Effect.gen(function*() {
    const sender = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    const outbox = yield* makeOutbox(sender)
    // Not `sliding`, which would drop kinds that later notifications do not name.
    const work = yield* PubSub.bounded<Work>(workMax)
    const webhooks = yield* PubSub.sliding<void>(1)

    const byGeneration = Layer.merge(
      Changes.layerWith({ broadcast: (changed) => outbox.add({ changed }) }),
      Callbacks.layerWith({ broadcast: (called) => outbox.add({ called }) })
    )
    const wakeups = Layer.mergeAll(
      Wakeup.layerWith({
        publish: (kinds) => outbox.add({ work: kinds ?? "all" }),
        subscribe: Stream.fromPubSub(work)
      }),
      WebhookWakeup.layerWith({ publish: outbox.add({ webhooks: true }), subscribe: Stream.fromPubSub(webhooks) })
    )
    const inbox = Layer.effectDiscard(Effect.gen(function*() {
      const changes = yield* Changes.Changes
      const callbacks = yield* Callbacks.Callbacks
      const wake = (hint: Pick<typeof Hint.Type, "kinds" | "webhooks" | "work">) =>
        Effect.all([
          hint.work ? PubSub.publish(work, hint.kinds ?? "all") : Effect.void,
          hint.webhooks === true ? PubSub.publish(webhooks, undefined) : Effect.void
        ])
      yield* Effect.forkScoped(listen({
        connected: Effect.andThen(changes.setConnected(true), wake({ work: true, webhooks: true })),
        disconnected: changes.setConnected(false),
        hint: (hint) =>
          hint.from === sender
            ? Effect.void
            : Effect.all([changes.receive(hint.changed), callbacks.receive(hint.called ?? []), wake(hint)])
      }))
    }))
    return Layer.mergeAll(wakeups, inbox).pipe(Layer.provideMerge(byGeneration))
  })
)

/** Notifications within this process, for a database that no other process uses. */
export const layerLocal: Layer.Layer<Hinted> = Layer.mergeAll(
  Wakeup.layer,
  WebhookWakeup.layer,
  Changes.layer,
  Callbacks.layer
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Services that send and receive notifications. */
type Hinted = Callbacks.Callbacks | Changes.Changes | Wakeup.Wakeup | WebhookWakeup.Wakeup

const Hint = Schema.fromJsonString(Schema.Struct({
  /** Sender, which ignores its own notifications. */
  from: Schema.String,
  work: Schema.Boolean,
  /** Kinds of the jobs that were queued. If undefined, any, as in notifications of earlier builds. */
  kinds: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Optional, since release 0.1 neither sends nor reads it. */
  webhooks: Schema.optionalKey(Schema.Boolean),
  changed: Schema.Array(GenerationId.schema),
  /** Generations whose upstream called. Absent if there are none. */
  called: Schema.optionalKey(Schema.Array(GenerationId.schema))
}))

/** Kinds of jobs that were queued. */
type Work = ReadonlyArray<string> | "all"

/** Changes to announce. */
interface News {
  readonly called?: ReadonlyArray<GenerationId>
  readonly changed?: ReadonlyArray<GenerationId>
  readonly webhooks?: boolean
  readonly work?: Work
}

/** Makes an outbox that collects notifications and sends them in the background. */
const makeOutbox = Effect.fnUntraced(function*(sender: string) {
  const pg = yield* PgClient.PgClient
  const filled = yield* Latch.make(false)
  const waiting = { called: new Set<GenerationId>(), changed: new Set<GenerationId>(), kinds: new Set<string>() }
  const wakes = { webhooks: false, allWork: false }

  const takeWork = () => {
    const kinds = Array.from(waiting.kinds)
    const isNamed = !wakes.allWork && JSON.stringify(kinds).length <= kindsLengthMax
    const work = wakes.allWork || kinds.length > 0
    waiting.kinds.clear()
    wakes.allWork = false
    return work && isNamed ? { work, kinds } : { work }
  }

  const takeSome = (ids: Set<GenerationId>, countMax: number) => {
    const taken = Array.from(ids).slice(0, countMax)
    taken.forEach((id) => ids.delete(id))
    return taken
  }

  const take = () => {
    const called = takeSome(waiting.called, idsMax)
    const changed = takeSome(waiting.changed, idsMax - called.length)
    const { webhooks } = wakes
    const hint = { from: sender, ...takeWork(), webhooks, changed, ...(called.length === 0 ? {} : { called }) }
    wakes.webhooks = false
    if (waiting.called.size + waiting.changed.size === 0) filled.closeUnsafe()
    return hint
  }

  yield* filled.await.pipe(
    Effect.andThen(Effect.sleep(collectFor)),
    Effect.andThen(Effect.suspend(() => Schema.encodeEffect(Hint)(take()))),
    Effect.flatMap((payload) => pg.notify(channel, payload)),
    // Notifications may be lost. Drivers can die of a lost connection instead of failing, so defects are ignored too.
    Effect.ignoreCause({ log: "Debug" }),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    add: ({ called = [], changed = [], webhooks = false, work = [] }: News) =>
      Effect.sync(() => {
        if (called.length + changed.length + work.length === 0 && !webhooks) return
        for (const id of called) waiting.called.add(id)
        for (const id of changed) waiting.changed.add(id)
        wakes.webhooks ||= webhooks
        if (work === "all") wakes.allWork = true
        else for (const kind of work) waiting.kinds.add(kind)
        filled.openUnsafe()
      })
  }
})

/**
 * Listens until interrupted. `connected` runs after each connection, to catch up on missed notifications, and `disconnected`
 * when it is lost.
 */
const listen = Effect.fnUntraced(function*(on: {
  readonly connected: Effect.Effect<unknown>
  readonly disconnected: Effect.Effect<unknown>
  readonly hint: (hint: typeof Hint.Type) => Effect.Effect<unknown>
}) {
  const pg = yield* PgClient.PgClient
  const notifications = Stream.unwrap(
    pg.listen(channel).pipe(Effect.tap(() => on.connected), Effect.map(Stream.fromQueue))
  )
  yield* notifications.pipe(
    Stream.runForEach(({ payload }) =>
      Effect.flatMap(
        // A newer release may send other payloads.
        Schema.decodeUnknownEffect(Hint)(payload).pipe(Effect.option),
        Option.match({ onNone: () => Effect.void, onSome: on.hint })
      )
    ),
    Effect.ensuring(on.disconnected),
    Effect.ignoreCause({ log: "Debug" }),
    Effect.repeat(Schedule.spaced(reconnectAfter))
  )
})
