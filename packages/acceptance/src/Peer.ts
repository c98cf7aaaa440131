/**
 * Services of a host in this process, in as many instances as a test needs. They share only the database. Peers can
 * exceed the rate limits of HTTP clients.
 */
import { Accounts, type PlanTable } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Generations } from "@kinora/generations"
import { Host, Settings, Work } from "@kinora/hosting"
import { Fingerprint } from "@kinora/idempotency"
import { Effect, Layer, Option } from "effect"
import type { Order } from "./Client.ts"
import type { Site } from "./Site.ts"

/** Options of a peer. */
export interface PeerOptions {
  /** Maximum number of running jobs. Default: none run. */
  readonly workers?: number
  /** Limits of the tiers. Default: those of the contract. */
  readonly planTable?: PlanTable.PlanTable
}

/** A peer. Each build has its own services and connections. */
export const layer = (site: Site, { planTable, workers = 0 }: PeerOptions = {}) =>
  Layer.unwrap(Effect.map(Settings.load(site.environment), (settings) =>
    Layer.fresh(
      Work.layerWorker({ name: "peer", concurrency: workers }).pipe(
        Layer.provideMerge(Host.layerWorking({ ...settings, planTable: planTable ?? settings.planTable }))
      )
    )))

/** Creates a job as the HTTP API does, without its rate limits. */
export const create = Effect.fn("Peer.create")(
  function*(account: string, { idempotencyKey, model, plan = "credits", prompt = "a lake" }: Order) {
    const accounts = yield* Accounts.Accounts
    const generations = yield* Generations.Generations
    const id = Option.getOrThrow(Option.fromUndefinedOr(AccountId.parse(account)))
    const params = { prompt }
    return yield* generations.create({
      account: yield* accounts.get(id),
      plan,
      model,
      params,
      identity: {
        scope: `create:${account}`,
        key: idempotencyKey,
        endpoint: "generations",
        fingerprint: yield* Fingerprint.make({ plan, model, params })
      }
    })
  }
)

/** Name of the refusal or of the error. */
export const reasonOf = (error: { readonly _tag: string; readonly reason?: unknown }): string =>
  typeof error.reason === "object" && error.reason !== null && "_tag" in error.reason
    ? String(error.reason._tag)
    : error._tag
