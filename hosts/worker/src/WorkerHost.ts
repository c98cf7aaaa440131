/** A worker without the interface: it takes jobs of the database that it shares with servers. */
import { Host, type Settings, Work } from "@kinora/hosting"
import { Layer } from "effect"
import { hostname } from "node:os"

/** Everything, on these settings. */
export const layer = (settings: Settings.Settings) =>
  Layer.mergeAll(
    Work.layerWorker({ name: `${hostname()}/worker/${process.pid}`, concurrency: settings.workers }),
    Work.layerSweeps
  ).pipe(Layer.provide(Host.layerWorking(settings)))
