/** A `Stage` in this process: everything in memory, in virtual time. */
import { TestHost } from "@kinora/host-test"
import type { TestHostOptions } from "@kinora/host-test/TestHostOptions"
import { Clock, Context, type Duration, Effect, Exit, Layer, Logger, Scope } from "effect"
import { IpNetwork } from "effect/net"
import { check } from "../OpenApiCheck.ts"
import * as RawHttp from "../RawHttp.ts"
import * as Receivers from "../Receivers.ts"
import * as Stage from "./Stage.ts"
import { models } from "./StageModels.ts"

/** Settings of the host that differ from the usual ones. */
export type MemoryOptions = Pick<
  TestHostOptions,
  "drivers" | "http" | "models" | "resultTtl" | "startsAt" | "webhooks" | "workers"
>

/** Starts a host. Disposing of the stage stops it. It logs nothing. */
export const start = (options: MemoryOptions = {}): Promise<Stage.MemoryStage & AsyncDisposable> =>
  Effect.runPromise(
    Effect.gen(function*() {
      const receivers = yield* Effect.promise(Receivers.here)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layer(options), scope).pipe(
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
      const run = Effect.runPromiseWith(context)
      const kinora = Context.get(context, TestHost.TestHost)
      const clock = Context.get(context, Clock.Clock)

      const client = RawHttp.make({ check, fetch: (path, init) => kinora.fetch(path, { ...init, apiKey: null }) })
      const admin = client.withToken(Stage.adminToken)
      const now = () => new Date(clock.currentTimeMillisUnsafe())
      const advance = (duration: Duration.Input) => run(kinora.time.advance(duration))
      const stage: Stage.MemoryStage & AsyncDisposable = {
        ...client,
        host: "memory",
        baseUrl: kinora.baseUrl,
        admin,
        openAccount: Stage.makeOpenAccount({ ...client, admin, now }),
        overSocket: async () => RawHttp.overSocket(await run(kinora.listen), { check }),
        receive: receivers(now),
        now,
        advance,
        elapse: advance,
        [Symbol.asyncDispose]: () => run(Scope.close(scope, Exit.void))
      }
      return stage
    }).pipe(Effect.provide(Logger.layer([])))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layer = (options: MemoryOptions) =>
  TestHost.layer({
    models,
    procedural: true,
    adminToken: Stage.adminToken,
    webhooks: { network: true },
    ...options,
    http: {
      trustedProxies: [IpNetwork.fromStringUnsafe(Stage.trustedProxies)],
      corsOrigins: [Stage.corsOrigin],
      ...options.http
    }
  })
