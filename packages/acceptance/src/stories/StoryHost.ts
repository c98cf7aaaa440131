/**
 * A host of a story: the services of the product, with a worker, the sender of webhooks and the
 * sweeps. Hosts of a story share its database, its files, its upstream and the receiver of
 * webhooks. Each has faults and a clock of its own.
 */
import { PlanTable } from "@kinora/accounts"
import { AddressGuard } from "@kinora/address-guard"
import type { Model } from "@kinora/catalog"
import { DefaultModels } from "@kinora/catalog"
import { Services } from "@kinora/generations"
import type { Generators } from "@kinora/generator"
import { Crypto, Host, Notifications } from "@kinora/hosting"
import { Media } from "@kinora/media"
import { DatabaseTime } from "@kinora/persistence"
import { Budget, RateLimit } from "@kinora/rate-limit"
import { type BlobStore, UrlSigner } from "@kinora/storage"
import type * as Faults from "@kinora/testkit/Faults"
import * as SkewedClock from "@kinora/testkit/SkewedClock"
import { SecretBox, type Transport } from "@kinora/webhooks"
import { Clock, type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { AnyStores } from "./Backend.ts"
import * as FaultyBlobStore from "./FaultyBlobStore.ts"

/** Services that the hosts of a story share. */
export type Shared = BlobStore.BlobStore | Generators.Generators | SecureRandom.SecureRandom | Transport.Transport

/** Options of a host. */
export interface StoryHostOptions {
  readonly name: string
  readonly stores: Layer.Layer<AnyStores>
  readonly shared: Context.Context<Shared>
  readonly faults: Faults.Faults
  /** How far its clock is ahead of the database's, in milliseconds. */
  readonly skew: number
}

/** The services of a host. */
export type HostServices = Layer.Success<ReturnType<typeof servicesLayer>>

/** A running host. */
export interface StoryHost {
  readonly faults: Faults.Faults
  /** How far its clock is ahead of the database's, in milliseconds. */
  readonly skew: number
  /** Runs a call of a client or an operator on the host, until the host ends. */
  readonly call: <A, E>(effect: Effect.Effect<A, E, HostServices>) => Effect.Effect<A, E>
  /** The scope of calls and of background work. */
  readonly scope: Scope.Closeable
  /** Stops the host, which drains. */
  readonly stop: Effect.Effect<void>
  /** Ends the host without a drain: nothing that it does has an effect from now on. */
  readonly kill: Effect.Effect<void>
}

/** Model of all jobs. Images can be sent with them. */
export const model: Model.ModelInput = {
  ...DefaultModels.still,
  studio_eligible: true,
  driver: { name: "scripted", options: {} }
}

/** Images per day that the Studio plan of each account pays for: 1 of its 2 possible jobs with that plan. */
export const imagesPerDay = 1

/** Starts a host. It runs until it is stopped or killed. */
export const start = Effect.fnUntraced(function*(options: StoryHostOptions) {
  const { faults, name, skew } = options
  const clock = yield* Clock.Clock
  const onHost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(DatabaseTime.DatabaseClock, clock),
      Effect.provideService(Clock.Clock, SkewedClock.aheadOf(clock, skew))
    )
  const scope = yield* Scope.make()
  const services = yield* onHost(Layer.buildWithScope(servicesLayer(options), scope))
  const work = Host.layerWork({
    worker: { name, concurrency: 2, grace: "2 seconds" },
    sender: { sends: 8, baseUrl: "http://kinora.test", lookPause: 0, pollInterval: "5 seconds" }
  })
  yield* onHost(Effect.provideContext(Layer.buildWithScope(work, scope), services))

  const close = Scope.close(scope, Exit.void)
  const host: StoryHost = {
    faults,
    skew,
    scope,
    call: (effect) => onHost(Effect.provideContext(effect, services)),
    stop: onHost(close),
    kill: Effect.suspend(() => {
      faults.kill()
      return onHost(close)
    })
  }
  return host
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { studio } = PlanTable.defaults

const planTable: PlanTable.PlanTable = {
  ...PlanTable.defaults,
  studio: { ...studio, pro: { ...studio.pro, quota: { images: imagesPerDay, videos: 0 } } }
}

const key = Redacted.make("0123456789abcdef0123456789abcdef")

const servicesLayer = ({ faults, shared, stores }: StoryHostOptions) =>
  Layer.mergeAll(
    Services.layer({ models: [model], planTable, scheduler: { attemptsMax: 3 } }),
    Budget.layer,
    RateLimit.layer
  ).pipe(
    Layer.provideMerge(surroundings(faults)),
    Layer.provideMerge(stores),
    Layer.provideMerge(Layer.succeedContext(shared)),
    Layer.fresh
  )

const surroundings = (faults: Faults.Faults) =>
  Layer.mergeAll(
    FaultyBlobStore.layer(faults),
    Notifications.layerLocal,
    Crypto.layerDigest,
    UrlSigner.layer({ keys: [key] }),
    trustingMedia,
    Layer.succeed(AddressGuard.AddressGuard, {
      check: (url) => Effect.succeed({ url: new URL(url), addresses: ["192.0.2.1"] })
    }),
    SecretBox.layer({ keys: [key] }).pipe(Layer.provide([Crypto.layerAead, Crypto.layerDigest]))
  )

/** Accepts every image unchanged. Decoding images would be most of the work of a story. */
const trustingMedia = Layer.sync(Media.Media, () => {
  const sides = { width: 3, height: 2 }
  const derive = (bytes: Uint8Array) => Effect.succeed({ mime: "image/webp" as const, bytes, ...sides })
  return Media.Media.of({
    inspect: () => Effect.succeed({ mime: "image/png" as const, ...sides }),
    normalise: (bytes) => Effect.succeed({ mime: "image/png" as const, bytes, ...sides }),
    preview: derive,
    thumb: derive,
    probe: () => Effect.succeed({ kind: "image", mime: "image/png", ...sides }),
    firstFrame: () => Effect.succeedNone,
    watermark: (bytes) => Effect.succeed({ mime: "image/png", bytes, ...sides }),
    canWatermarkVideos: Effect.succeed(false),
    watermarkVideo: () => Effect.die(new Error("There are no videos"))
  })
})
