/** A `WebhookStore` in the memory of this process, for tests and for hosts without a database. */
import * as Decision from "@kinora/persistence/Decision"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer, Result } from "effect"
import { claim } from "./internal/rules/claim.ts"
import * as Lists from "./internal/rules/lists.ts"
import * as Outbox from "./internal/rules/Outbox.ts"
import { settle } from "./internal/rules/settlement.ts"
import * as Sweep from "./internal/rules/sweep.ts"
import { WebhookStore } from "./WebhookStore.ts"

/** Provides a store in memory. */
export const layer: Layer.Layer<WebhookStore, never, MemoryBackend> = Layer.effect(
  WebhookStore,
  Effect.map(MemoryBackend, (memory) => {
    const cell = makeCell(memory)
    return WebhookStore.of({ ...endpointMethods(cell), ...deliveryMethods(cell), ...workerMethods(cell) })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Store = WebhookStore["Service"]

/** The state of the store, which a unit of work restores when it rolls back. */
interface Cell {
  readonly read: <A>(query: (outbox: Outbox.Outbox) => A) => Effect.Effect<A>
  /** Adopts the state of a decision and returns its value. */
  readonly decide: <A>(decide: (outbox: Outbox.Outbox) => Decision.Decision<Outbox.Outbox, A>) => Effect.Effect<A>
  /** Adopts the state of a decided set and returns the values of its accepted commands. */
  readonly decideAll: <A, Refusal>(
    decide: (outbox: Outbox.Outbox) => Decision.DecidedAll<Outbox.Outbox, A, Refusal>
  ) => Effect.Effect<ReadonlyArray<A>>
}

const makeCell = ({ access, makeMap }: MemoryBackend["Service"]): Cell => {
  const states = makeMap<"outbox", Outbox.Outbox>()
  const current = () => states.get("outbox") ?? Outbox.empty
  const decide: Cell["decide"] = (decide) =>
    access(() => {
      const { state, value } = Result.merge(decide(current()))
      states.set("outbox", state)
      return value
    })
  return {
    read: (query) => access(() => query(current())),
    decide,
    decideAll: (decideSet) =>
      decide((outbox) => {
        const { results, state } = decideSet(outbox)
        return Decision.accept(state, results.filter(Result.isSuccess).map(({ success }) => success))
      })
  }
}

const endpointMethods = ({ decide, read }: Cell) => ({
  countEndpoints: (account) => read((outbox) => Lists.endpoints(outbox, [account]).length),
  insertEndpoint: (record) => decide((outbox) => Outbox.putEndpoint(outbox, record)),
  findEndpoints: (accounts) => read((outbox) => Lists.endpoints(outbox, accounts)),
  loadEndpoint: (account, id) => read((outbox) => Lists.endpoint(outbox, account, id)),
  saveEndpoint: (record) => decide((outbox) => Outbox.putEndpoint(outbox, record)),
  saveSecrets: (record) => decide((outbox) => Outbox.putSecrets(outbox, record)),
  removeEndpoint: (id) => decide((outbox) => Outbox.removeEndpoint(outbox, id)),
  lockFailing: (after, limit) => read((outbox) => Lists.failing(outbox, after, limit)),
  findStaleSecrets: (prefix, now, limit) => read((outbox) => Lists.staleSecrets(outbox, { prefix, now, limit }))
} satisfies Partial<Store>)

const deliveryMethods = ({ decide, decideAll, read }: Cell) => ({
  publish: (events, deliveries) => decide((outbox) => Outbox.publish(outbox, { events, deliveries })),
  loadDelivery: (account, id) => read((outbox) => Lists.delivery(outbox, account, id)),
  restart: (id, at) => Effect.asVoid(decideAll((outbox) => Outbox.restart(outbox, { id, at }))),
  restartFailed: (options) => decide((outbox) => Outbox.restartFailed(outbox, options)),
  findEvent: (account, endpoint, id) => read((outbox) => Lists.event(outbox, account, endpoint, id)),
  listDeliveries: (endpoint, limit, before) => read((outbox) => Lists.deliveries(outbox, endpoint, limit, before)),
  listDeliveriesAbout: (account, subject, limit) =>
    read((outbox) => Lists.deliveriesAbout(outbox, { account, subject, limit })),
  listSendsOf: (deliveries, limit) => read((outbox) => Lists.sendsAbout(outbox, deliveries, limit)),
  listSends: (endpoint, limit) => read((outbox) => Lists.sends(outbox, endpoint, limit)),
  expire: (before, now, limit) => decide((outbox) => Sweep.expire(outbox, { before, now, limit })),
  sweep: (before, limit) => decide((outbox) => Sweep.sweep(outbox, { before, limit })),
  forget: (account) => decide((outbox) => Sweep.forget(outbox, account)),
  trimSends: (kept, limit) => decide((outbox) => Sweep.trimSends(outbox, { kept, limit }))
} satisfies Partial<Store>)

const workerMethods = ({ decide, decideAll, read }: Cell) => ({
  due: (now, limit, after) => read((outbox) => Lists.due(outbox, { now, limit, after })),
  claim: (demands, now, until, bytesMax = Infinity) =>
    decide((outbox) => claim(outbox, { demands, now, until, bytesMax })),
  freeze: (bodies) => Effect.asVoid(decideAll((outbox) => Outbox.freeze(outbox, bodies))),
  settle: (settlements) => decideAll((outbox) => settle(outbox, settlements)),
  release: (claims, at) => Effect.asVoid(decideAll((outbox) => Outbox.release(outbox, { claims, at })))
} satisfies Partial<Store>)
