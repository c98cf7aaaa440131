/** Makes the service of Redis from a client of the program. */
import { Effect, Layer } from "effect"
import * as Redis from "effect/persistence/Redis"

/** A client of the packages `redis` or `ioredis`, or any other that sends a command. The program opens and closes it. */
export type RedisClient =
  | {
    /** Removes the command from its queue if the signal aborts before it is sent. */
    readonly sendCommand: (command: Array<string>, options: { readonly abortSignal: AbortSignal }) => Promise<unknown>
  }
  | { readonly call: (command: string, ...args: Array<string>) => Promise<unknown> }

/** Provides Redis over a client. Limits send scripts only, so it cannot subscribe or reserve connections. */
export const layer = (client: RedisClient): Layer.Layer<Redis.Redis> =>
  Layer.effect(
    Redis.Redis,
    Redis.make({
      send: <A>(command: string, ...args: ReadonlyArray<string>) =>
        Effect.tryPromise({
          // A client of `ioredis` has `sendCommand` too, which takes an object.
          try: (abortSignal) =>
            ("call" in client
              ? client.call(command, ...args)
              // A command that waits for a connection must not be executed after its caller has left.
              : client.sendCommand([command, ...args], { abortSignal })) as Promise<A>,
          catch: (cause) => new Redis.RedisError({ cause })
        }),
      subscribe: () => Effect.fail(unsupported),
      connect: Effect.fail(unsupported)
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unsupported = new Redis.RedisError({ cause: new Error("Limits use one connection") })
