import { assert, it } from "@effect/vitest"
import { PlanRenewal } from "@kinora/generations"
import { Sweep } from "@kinora/persistence"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Transport } from "@kinora/webhooks"
import { Duration, Effect, Layer, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Drivers from "../src/Drivers.ts"
import * as Host from "../src/Host.ts"
import * as Notifications from "../src/Notifications.ts"
import * as Services from "../src/Services.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"
import * as Work from "../src/Work.ts"
import { sweptServices } from "./sweptServices.ts"

it.effect("sweeps at these intervals", () =>
  Effect.gen(function*() {
    const intervals: Array<number> = []
    yield* Layer.build(Work.layerSweeps()).pipe(
      Effect.provide(sweptServices),
      Effect.provideService(Sweep.Pause, (interval) =>
        Effect.andThen(
          Effect.sync(() => intervals.push(Duration.toSeconds(interval))),
          Effect.never
        ))
    )
    yield* Effect.yieldNow
    // Slots; renewals; payments; jobs (2), files (3), deliveries, secrets, failing endpoints, claims, lots, sessions, minutes, leases; days, old jobs, old usage, revoked keys, spending of keys, audit entries (2), deleted accounts, old payments.
    const hourly = Array(9).fill(3_600)
    assert.deepStrictEqual(intervals.toSorted((a, b) => a - b), [3, 20, 60, 60, 60, ...Array(11).fill(300), ...hourly])
  }).pipe(Effect.scoped))

/** Services in memory, with renewals that never end. `events` has their calls and interruptions. */
const hanging = (events: Queue.Queue<string>) =>
  Layer.mergeAll(
    Services.layer({}).pipe(
      Layer.provideMerge(Layer.mergeAll(
        Stores.layerMemory,
        BlobStore.layerMemory,
        Notifications.layerLocal,
        Drivers.layer(),
        UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] }),
        Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
      ))
    ),
    Layer.mock(Transport.Transport)({}),
    Layer.mock(PlanRenewal.PlanRenewal)({
      renew: () =>
        Effect.andThen(Queue.offer(events, "run"), Effect.never).pipe(
          Effect.onInterrupt(() => Queue.offer(events, "interrupted"))
        )
    })
  )

it.effect("interrupts a set that takes longer than the deadline of the host", () =>
  Effect.gen(function*() {
    const events = yield* Queue.unbounded<string>()
    const work = Host.layerWork({
      worker: { name: "test", concurrency: 0 },
      sender: { sends: 0, baseUrl: "https://media.example.com" },
      sweepDeadline: "1 hour"
    })
    yield* Layer.build(work).pipe(Effect.provide(hanging(events)))
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* Queue.takeAll(events), ["run"])
    // A run begins up to 25 seconds after the start, or after the end of the run before.
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Queue.takeAll(events), ["interrupted", "run"])
  }).pipe(Effect.scoped))
