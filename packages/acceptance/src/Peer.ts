/**
 * The services of a host inside this process, as many times over as a test needs:
 * they share a database and nothing else. What the limits of the interface keep
 * clients from doing, peers can do.
 */
import { Accounts, type PlanTable } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Generations } from "@kinora/generations"
import { Host, Settings, Work } from "@kinora/hosting"
import { Fingerprint } from "@kinora/idempotency"
import { Effect, Layer, Option } from "effect"
import type { Order } from "./Client.ts"
import type { Site } from "./Site.ts"

/** What a peer does. */
export interface PeerOptions {
  /** Jobs at once. Default: none. */
  readonly workers?: number
  /** What tiers allow. Default: what the interface says. */
  readonly planTable?: PlanTable.PlanTable
}

/** A peer; each that is built has services and connections of its own. */
export const layer = (site: Site, { planTable, workers = 0 }: PeerOptions = {}) =>
  Layer.unwrap(Effect.map(Settings.load(site.environment), (settings) =>
    Layer.fresh(
      Work.layerWorker({ name: "peer", concurrency: workers }).pipe(
        Layer.provideMerge(Host.layerWorking({ ...settings, planTable: planTable ?? settings.planTable }))
      )
    )))

/** Creates a job for an account as the interface would, its limits aside. */
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

/** The name of the refusal, or of what else went wrong. */
export const reasonOf = (error: { readonly _tag: string; readonly reason?: unknown }): string =>
  typeof error.reason === "object" && error.reason !== null && "_tag" in error.reason
    ? String(error.reason._tag)
    : error._tag
