/** The services of a host over its stores, files, generators and wake-ups. */
import { PlanTable } from "@kinora/accounts"
import { type Model, Parameters } from "@kinora/catalog"
import { Services } from "@kinora/generations"
import { Generation } from "@kinora/http-api"
import { Media } from "@kinora/media"
import { Budget } from "@kinora/rate-limit"
import { Context, type Duration, Layer, Schema } from "effect"
import * as Crypto from "./Crypto.ts"

/** Options for `Services.layer`. */
export interface ServicesOptions extends
  Pick<
    Services.ServicesOptions,
    | "inputPixelsPerMinute"
    | "models"
    | "moderation"
    | "paymentProvider"
    | "planTable"
    | "requestAdvance"
    | "sessions"
    | "uploads"
    | "webhooks"
  >
{
  /** Limits of images and videos. Default: those of `Media`. */
  readonly media?: Media.MediaOptions | undefined
  /**
   * Time for which a process may keep bytes of the day that it took in advance for small downloads. Several processes on one
   * database wait for each other at most three times as long. Default 0, none.
   */
  readonly downloadAdvance?: Duration.Input | undefined
}

/** The plan table of this host, which the HTTP interface shows. */
export class CurrentPlanTable extends Context.Service<CurrentPlanTable, PlanTable.PlanTable>()(
  "@kinora/hosting/Services/CurrentPlanTable"
) {}

/** Parameters of the HTTP API that models can have, with their types. */
export const clientParams: Readonly<Record<string, Model.ParamSchema["type"]>> = Object.fromEntries(
  Object.entries(Generation.Params.fields)
    .filter(([name]) => !Parameters.reservedNames.includes(name))
    .map(([name, field]) => [name, Schema.is(field)(1) ? "int" : Schema.is(field)(true) ? "boolean" : "string"])
)

/** Maximum number of attempts per job. The last one runs alone, so a job fails only for a worker that ran nothing else. */
const attemptsMax = 3

/**
 * The use-cases, the domain services and the rate limits. Requires `Stores`, a
 * `BlobStore`, `Notifications` and `Webhook.layerProtection`.
 */
export const layer = ({ downloadAdvance, media, planTable = PlanTable.defaults, ...options }: ServicesOptions) =>
  Layer.mergeAll(
    Services.layer({ ...options, params: clientParams, planTable, scheduler: { attemptsMax } }),
    Budget.layerWith({ advance: downloadAdvance }),
    Layer.succeed(CurrentPlanTable, planTable)
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(Crypto.layerDigest, Crypto.layerSecureRandom, Media.layer(media)))
  )
