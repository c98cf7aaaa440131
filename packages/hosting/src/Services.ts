/** Every service of Kinora but HTTP, over whatever stores, blobs, generators and hints a host gives. */
import { Accounts, PlanTable } from "@kinora/accounts"
import { Catalog, DefaultModels } from "@kinora/catalog"
import { Generations, GenerationSweep, PlanRenewal, Uploads } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Scheduler } from "@kinora/scheduler"
import { Webhooks } from "@kinora/webhooks"
import { Context, Layer } from "effect"
import * as Crypto from "./Crypto.ts"

/** What the services are told. */
export interface ServicesOptions {
  /** The models of a configuration; absent: the default ones. Problems in it stop the start. */
  readonly models?: unknown
  /** What tiers allow. Default: the table of `interface.md`. */
  readonly planTable?: PlanTable.PlanTable | undefined
}

/** What tiers allow, as the services were told: what is shown of it over HTTP is the same table. */
export class CurrentPlanTable extends Context.Service<CurrentPlanTable, PlanTable.PlanTable>()(
  "@kinora/hosting/Services/CurrentPlanTable"
) {}

/** How often a job is begun before it is given up: workers that are lost are rarely lost because of their jobs. */
const attemptsMax = 5

/** Requires the stores, `BlobStore`, and what `Notifications` and `Webhook.layerProtection` provide. */
export const layer = ({ models = DefaultModels.models, planTable = PlanTable.defaults }: ServicesOptions) =>
  Layer.mergeAll(
    Generations.layerWith({ planTable }),
    GenerationSweep.layer,
    PlanRenewal.layerWith({ planTable }),
    Uploads.layer,
    Layer.succeed(CurrentPlanTable, planTable)
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Accounts.layer,
        Budget.layer,
        Idempotency.layer,
        Ledger.layer,
        Places.layer,
        RateLimit.layer,
        Scheduler.layerWith({ attemptsMax }),
        Webhooks.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.effect(Catalog.Catalog, Catalog.make(models)),
        Crypto.layerDigest,
        Media.layer(),
        Crypto.layerSecureRandom
      )
    )
  )
