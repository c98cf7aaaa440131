/**
 * Notifications between the processes of one Postgres, over `LISTEN` and `NOTIFY`.
 *
 * Each table has a channel of its own, so two schemas that have a table of the same name do not share one. A notification
 * of a transaction is delivered when it commits, and never if it rolls back. A lost notification only delays its
 * receivers, which also poll.
 */
import { Duration, Effect, Option, type Queue, Schedule, Schema, type Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError } from "effect/sql"
import { Current } from "./internal/external/transaction.ts"
import type { Kinds } from "./Waking.ts"

/** Sends and receives notifications. */
export interface PgNotifications {
  /**
   * Notifies the processes that listen, when the surrounding transaction commits, or immediately without one. The notification
   * names the kinds of work that became ready, unless their names are too long for it. Postgres delivers one notification
   * per transaction and array of kinds. Transactions with a notification commit one after the other.
   */
  readonly notify: (kinds: Kinds) => Effect.Effect<void, SqlError.SqlError>
  /**
   * The kinds in the notifications of other processes, and in those that arrive with the commit of a caller's transaction. Listens
   * on a connection of the client while the stream runs, and on another one after a loss, with a growing pause. Emits also
   * after each connection, without kinds, since notifications before it were missed. Empty if the client cannot listen, or has
   * only one connection (`maxConnections`).
   */
  readonly received: Stream.Stream<Kinds>
}

/** Creates the notifications of a table. */
export const make = Effect.fnUntraced(
  function*(table: string): Effect.fn.Return<
    PgNotifications,
    never,
    SecureRandom.SecureRandom | SqlClient.SqlClient
  > {
    const sql = yield* SqlClient.SqlClient
    const sender = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    // The object id is that of the table in its schema, whatever the search path is.
    const channel = sql.literal(`'kinora_' || '${table}'::regclass::oid`)
    return {
      notify: (kinds) =>
        Effect.withFiber((fiber) => {
          // A caller commits without this module, so the sender needs the notification itself too.
          const from = fiber.getRef(Current) === undefined ? sender : ""
          // Some drivers cannot read the type `void` of a selected `pg_notify`.
          return Effect.asVoid(sql`SELECT 1 AS notified FROM pg_notify(${channel}, ${payloadOf({ from, kinds })})`)
        }),
      received: canListen(sql)
        ? listenAgain(sql, sql<{ channel: string }>`SELECT ${channel} AS channel`).pipe(
          Stream.map(messageOf),
          Stream.filter(({ from }) => from !== sender),
          Stream.map(({ kinds }) => kinds)
        )
        : Stream.empty
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A notification: its sender, or an empty text, and the kinds of work that became ready. */
interface Message {
  readonly from: string
  readonly kinds: Kinds
}

const MessageWithKinds = Schema.fromJsonString(
  Schema.Struct({ from: Schema.String, kinds: Schema.Array(Schema.String) })
)

/** Maximum length of a payload, in characters of at most 3 bytes in UTF-8. Postgres rejects 8,000 bytes. */
const payloadMax = 2_600

/** Returns the payload of a message: JSON, or the sender alone without kinds, as builds send it that name no kinds. */
const payloadOf = ({ from, kinds }: Message): string => {
  if (kinds === undefined) return from
  const payload = Schema.encodeSync(MessageWithKinds)({ from, kinds })
  return payload.length > payloadMax ? from : payload
}

const messageOf = (payload: string): Message =>
  Option.getOrElse(decodeMessage(payload), () => ({ from: payload, kinds: undefined }))

const decodeMessage = Schema.decodeOption(MessageWithKinds)

/** The used part of `PgClient` of `@effect/sql-pg`, and of the client of `layerPg`. */
interface ListeningClient extends SqlClient.SqlClient {
  readonly listen: (
    channel: string
  ) => Effect.Effect<Queue.Dequeue<{ readonly payload: string }, SqlError.SqlError>, SqlError.SqlError, Scope.Scope>
  readonly config?: { readonly maxConnections?: number | undefined } | undefined
}

/** A client with one connection needs it for its statements. */
const canListen = (sql: SqlClient.SqlClient): sql is ListeningClient =>
  "listen" in sql && typeof sql.listen === "function" && (sql as ListeningClient).config?.maxConnections !== 1

/** How long a connection is used. One that was cut without notice delivers nothing. */
const replacedAfter = Duration.minutes(10)

const pauses = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(Schedule.jittered)

/** Listens until interrupted. Emits the payloads, and an empty one after each connection. */
const listenAgain = (
  { listen }: ListeningClient,
  channel: Effect.Effect<ReadonlyArray<{ readonly channel: string }>, SqlError.SqlError>
): Stream.Stream<string> =>
  Stream.unwrap(Effect.map(
    Effect.flatMap(channel, ([row]) => listen(row!.channel)),
    (queue) =>
      Stream.fromQueue(queue).pipe(
        Stream.map(({ payload }) => payload),
        Stream.prepend([""])
      )
  )).pipe(
    Stream.interruptWhen(Effect.sleep(replacedAfter)),
    Stream.concat(Stream.fail(undefined)),
    // Drivers can die of a lost connection instead of failing.
    Stream.catchCause((cause) =>
      Stream.fromEffect(Effect.andThen(
        Effect.logDebug("Listening for notifications has ended, and is attempted again", cause),
        Effect.fail(undefined)
      ))
    ),
    Stream.retry(pauses),
    Stream.orDie
  )
