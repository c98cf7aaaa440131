/**
 * What the server and the worker have in common: every service, over the database
 * and the files that the settings name.
 */
import { Scheduler } from "@kinora/scheduler"
import { FileBlobStore } from "@kinora/storage"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import * as Crypto from "./Crypto.ts"
import * as Database from "./Database.ts"
import * as DataDirectory from "./DataDirectory.ts"
import * as Drivers from "./Drivers.ts"
import * as Notifications from "./Notifications.ts"
import * as Services from "./Services.ts"
import type { Settings } from "./Settings.ts"
import * as Stores from "./Stores.ts"
import * as Webhook from "./Webhook.ts"

/** Brings the database's schema up to date, and starts every service on it. */
export const layer = (settings: Settings) =>
  Layer.unwrap(Effect.gen(function*() {
    const isEmbedded = settings.databaseUrl === undefined
    const { dataDirectory } = settings
    // Processes that share a Postgres may share their files as well; an embedded database is one process's.
    yield* isEmbedded ? DataDirectory.acquire(dataDirectory) : DataDirectory.make(dataDirectory)
    const options = { url: settings.databaseUrl, dataDirectory, maxConnections: settings.databasePoolSize }
    const migrated = Database.layerMigrations(options, Stores.migrations).pipe(
      Layer.provideMerge(Database.layer(options))
    )
    const services = Services.layer({ models: settings.models, planTable: settings.planTable }).pipe(
      Layer.provideMerge(Layer.mergeAll(
        Stores.layerSql,
        FileBlobStore.layer({ directory: join(dataDirectory, "files") }),
        Webhook.layerProtectionOf(settings),
        isEmbedded ? Notifications.layerLocal : Notifications.layer.pipe(Layer.provide(Crypto.layerSecureRandom))
      )),
      Layer.provideMerge(migrated)
    )
    const begin = Layer.mergeAll(
      Layer.effectDiscard(Webhook.checkKeys(settings)),
      // Whoever had leases in an embedded database is gone: the directory is this process's alone.
      isEmbedded ? layerTakeOver : Layer.empty
    )
    return begin.pipe(Layer.provideMerge(services))
  }))

/** As `layer`, with the generators that a process needs to work. */
export const layerWorking = (settings: Settings) =>
  Layer.effectDiscard(Drivers.check).pipe(
    Layer.provideMerge(layer(settings)),
    Layer.provideMerge(Drivers.layer)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerTakeOver = Layer.effectDiscard(
  Scheduler.Scheduler.use((scheduler) => scheduler.expireFirstLeases).pipe(
    Effect.tap((leases) =>
      leases === 0 ? Effect.void : Effect.logInfo("Jobs of the process before this one are taken over", { leases })
    )
  )
)
