/**
 * Carries hints between the processes of one Postgres: "there may be work", and
 * "these generations changed". Hints are sent outside of transactions and many at
 * a time, since a `NOTIFY` inside a transaction serialises the commits of the whole
 * database. Whatever is lost on the way, those who wait find by asking.
 */
import { PgClient } from "@effect/sql-pg"
import { Changes } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Wakeup } from "@kinora/scheduler"
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
export const layer: Layer.Layer<Wakeup.Wakeup | Changes.Changes, never, PgClient.PgClient | SecureRandom.SecureRandom> =
  Layer.unwrap(Effect.gen(function*() {
    const sender = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    const outbox = yield* makeOutbox(sender)
    const wakes = yield* PubSub.sliding<void>(1)

    const changes = Changes.layerWith({ broadcast: (ids) => outbox.add(ids, false) })
    const wakeup = Wakeup.layerWith({ publish: outbox.add([], true), subscribe: Stream.fromPubSub(wakes) })
    const inbox = Layer.effectDiscard(Effect.gen(function*() {
      const { receive } = yield* Changes.Changes
      const wake = PubSub.publish(wakes, undefined)
      yield* Effect.forkScoped(listen({
        connected: wake,
        hint: (hint) =>
          hint.from === sender
            ? Effect.void
            : Effect.andThen(receive(hint.changed), hint.work ? wake : Effect.void)
      }))
    }))
    return Layer.mergeAll(wakeup, inbox).pipe(Layer.provideMerge(changes))
  }))

/** For a process that shares its database with nobody. */
export const layerLocal: Layer.Layer<Wakeup.Wakeup | Changes.Changes> = Layer.mergeAll(Wakeup.layer, Changes.layer)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Hint = Schema.fromJsonString(Schema.Struct({
  /** Who sent it, so that a process does not wake itself twice. */
  from: Schema.String,
  work: Schema.Boolean,
  changed: Schema.Array(GenerationId.schema)
}))

/** Collects hints and sends them from a fiber of its own. */
const makeOutbox = Effect.fnUntraced(function*(sender: string) {
  const pg = yield* PgClient.PgClient
  const filled = yield* Latch.make(false)
  const changed = new Set<GenerationId>()
  let work = false

  const take = () => {
    const ids = Array.from(changed).slice(0, idsMax)
    ids.forEach((id) => changed.delete(id))
    const hint = { from: sender, work, changed: ids }
    work = false
    if (changed.size === 0) filled.closeUnsafe()
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
    add: (ids: ReadonlyArray<GenerationId>, isWork: boolean) =>
      Effect.sync(() => {
        if (ids.length === 0 && !isWork) return
        for (const id of ids) changed.add(id)
        work ||= isWork
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
