/** The services of Kinora in this process, composed as in hosts, on a database that they migrate. */
import { Accounts } from "@kinora/accounts"
import { Database, Stores } from "@kinora/hosting"
import { Ledger } from "@kinora/ledger"
import { Migrations } from "@kinora/persistence"
import { RateLimit } from "@kinora/rate-limit"
import { Scheduler, Wakeup } from "@kinora/scheduler"
import { Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/** All services except HTTP and generators. */
export const layer = (url: string) =>
  Layer.mergeAll(
    Accounts.layer,
    Ledger.layer,
    RateLimit.layerWith({ advance: "100 millis" }),
    Scheduler.layerWith()
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(Stores.layerSql, Wakeup.layer, SecureRandom.layerWebCrypto)),
    Layer.provideMerge(Migrations.layer(...Stores.migrations)),
    // The URL is set, so the directory of an embedded database is unused.
    Layer.provideMerge(Database.layer({ url: Redacted.make(url), dataDirectory: "" }))
  )

/** The services of the layer. */
export type KinoraServices = Layer.Success<ReturnType<typeof layer>>
