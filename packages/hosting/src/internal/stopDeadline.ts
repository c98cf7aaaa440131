/** Ends the process if it does not stop in time after a signal, and logs which parts of the host hang. */
import * as UndiciTransport from "@kinora/webhooks/UndiciTransport"
import { Duration, Effect, Latch, Layer } from "effect"
import type { EventEmitter } from "node:events"
import type { Settings } from "../Settings.ts"

/** The process, or a substitute. */
export interface StoppedProcess extends Pick<EventEmitter, "once" | "off"> {
  readonly exit: (code: number) => void
}

/**
 * Returns the time from a signal to the end of the process, if something hangs: 5 seconds after the grace of jobs or the time
 * limit of a send of a webhook, whichever is longer. A process that serves clients drains first, and has the grace of requests.
 */
export const limitOf = (
  { drain, jobGrace, requestGrace }: Pick<Settings, "drain" | "jobGrace" | "requestGrace">,
  servesClients: boolean
): Duration.Duration => {
  // After the drain, a host begins no sends and waits for those in progress.
  const ofWork = Duration.max(jobGrace, UndiciTransport.timeoutDefault)
  const grace = servesClients ? Duration.sum(drain, Duration.max(ofWork, requestGrace)) : ofWork
  return Duration.sum(grace, hangMax)
}

/** Names of the parts of the host that have begun to stop and have not ended. */
const stopping = new Set<string>()

/** Names a part of the host in the log if its layer hangs when it stops. */
export const part = (name: string) => <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  // The layer that is built last stops first.
  atStop(() => stopping.add(name)).pipe(
    Layer.provideMerge(layer),
    Layer.provideMerge(atStop(() => stopping.delete(name)))
  )

/**
 * Starts the deadline when the process receives a signal to stop. The process exits with 1 when it has passed. Scoped: the
 * deadline ends with the scope, after everything that has to stop.
 */
export const watch = (limit: Duration.Duration, target: StoppedProcess) =>
  Effect.gen(function*() {
    yield* awaitSignal(target)
    yield* Effect.sleep(limit)
    const hung = Array.from(stopping)
    yield* Effect.logFatal("The process did not stop in time and was ended", { hung })
    target.exit(1)
  }).pipe(Effect.forkScoped({ startImmediately: true }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Time for what follows a grace: releases of jobs, requests of operators, and closing the database. A constant, since the
 * writes have the deadlines of the database.
 */
const hangMax = Duration.seconds(5)

const signals = ["SIGTERM", "SIGINT"] as const

const atStop = (change: () => void) => Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(change)))

const awaitSignal = (target: StoppedProcess) =>
  Effect.suspend(() => {
    const received = Latch.makeUnsafe(false)
    const open = () => received.openUnsafe()
    for (const signal of signals) target.once(signal, open)
    const forget = Effect.sync(() => {
      for (const signal of signals) target.off(signal, open)
    })
    return Effect.ensuring(received.await, forget)
  })
