/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Duration, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import * as MemoryWebhookStore from "../src/MemoryWebhookStore.ts"
import { WebhookStore } from "../src/WebhookStore.ts"

type Store = WebhookStore["Service"]

/** Returns the names of the tests that fail for a store in memory with a fault. */
const failuresOf = Effect.fnUntraced(function*(fault: (store: Store) => Partial<Store>) {
  const store = Layer.effect(WebhookStore, Effect.map(WebhookStore, (store) => ({ ...store, ...fault(store) })))
    .pipe(Layer.provide(MemoryWebhookStore.layer), Layer.provideMerge(UnitOfWork.layerMemory))
  const failures: Array<string> = []
  for (const registers of Object.values(parts)) {
    const tests: Array<Effect.Effect<void>> = []
    const test: Register = (name, body) => {
      const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services(store))))
      tests.push(Effect.map(run, (exit) => {
        if (Exit.isFailure(exit)) failures.push(name)
      }))
    }
    for (const register of registers) register(test)
    // Each test has a store and a time of its own.
    for (const run of tests) yield* Effect.provide(run, TestClock.layer())
  }
  return failures
})

it.effect("passes for the store in memory", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* failuresOf(() => ({})), [])
  }))

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "counts no endpoints",
    () => ({ countEndpoints: () => Effect.succeed(0) }),
    "locks the account while its endpoints are counted, so that a limit is exact"
  ],
  [
    "returns endpoints in another order",
    ({ findEndpoints }) => ({
      findEndpoints: (accounts) => Effect.map(findEndpoints(accounts), (endpoints) => endpoints.toReversed())
    }),
    "returns endpoints as they were saved, to their account only"
  ],
  [
    "keeps the former secrets of an endpoint",
    ({ loadEndpoint, saveEndpoint }) => ({
      saveEndpoint: (record) =>
        Effect.flatMap(
          loadEndpoint(record.endpoint.account, record.endpoint.id),
          (former) => saveEndpoint({ ...record, secrets: [...record.secrets, ...former?.secrets ?? []] })
        )
    }),
    "returns endpoints as they were saved, to their account only"
  ],
  [
    "finds no stale secrets",
    () => ({ findStaleSecrets: () => Effect.succeed([]) }),
    "finds secrets that another key sealed and expired ones"
  ],
  [
    "compares the beginning of the prefix of a key",
    ({ findStaleSecrets }) => ({
      findStaleSecrets: (prefix, now, limit) => findStaleSecrets(prefix.slice(0, -1), now, limit)
    }),
    "finds secrets that another key sealed and expired ones"
  ],
  [
    "shows deliveries of removed endpoints",
    () => ({ removeEndpoint: () => Effect.void }),
    "hides a removed endpoint immediately, and sweeps its rows in small sets"
  ],
  [
    "shows deliveries to other accounts",
    (store) => {
      const owners = new Map<string, string>()
      return {
        insertEndpoint: (record) => {
          owners.set(record.endpoint.id, record.endpoint.account)
          return store.insertEndpoint(record)
        },
        findEvent: (_, endpoint, id) => store.findEvent(owners.get(endpoint)!, endpoint, id)
      }
    },
    "returns the event of a delivery of the account"
  ],
  [
    "forgets subjects",
    ({ publish }) => ({
      publish: (events, deliveries) => publish(events.map((event) => ({ ...event, subject: undefined })), deliveries)
    }),
    "returns the deliveries and sends of the account's events about a subject, newest first"
  ],
  [
    "ignores the page of a list",
    ({ listDeliveries }) => ({ listDeliveries: (endpoint, limit) => listDeliveries(endpoint, limit) }),
    "lists an endpoint's deliveries newest first, by page, for its account only"
  ],
  [
    "claims without a lease",
    ({ claim }) => ({ claim: (demands, now, _, bytesMax) => claim(demands, now, now, bytesMax) }),
    "claims the deliveries that have been due longest, up to the limit, under a lease"
  ],
  [
    "returns each claim to two workers",
    ({ claim }) => {
      let former: Effect.Success<ReturnType<Store["claim"]>> = []
      return {
        claim: (...terms) =>
          Effect.map(claim(...terms), (claimed) => {
            const both = [...former, ...claimed]
            former = claimed
            return both
          })
      }
    },
    "never claims a delivery for two workers"
  ],
  [
    "claims any number of bytes",
    ({ claim }) => ({ claim: (demands, now, until) => claim(demands, now, until) }),
    "claims at most the given bytes but at least one delivery, the first of each endpoint before the second of any"
  ],
  [
    "stores no bodies",
    () => ({ freeze: () => Effect.void }),
    "returns the body of the first send until the delivery ends"
  ],
  [
    "stores no bodies with outcomes",
    ({ settle }) => ({ settle: (settlements) => settle(settlements.map(({ body: _, ...settlement }) => settlement)) }),
    "stores the body of a failed send with its outcome, unless the delivery has one or the claim no longer holds"
  ],
  [
    "settles claims that no longer hold",
    ({ settle }) => ({
      settle: (settlements) => Effect.as(settle(settlements), settlements.map(({ delivery }) => delivery))
    }),
    "settles only claims that still hold"
  ],
  [
    "counts released claims as attempts",
    () => ({ release: () => Effect.void }),
    "does not count released claims as attempts, and never reuses a claim number"
  ],
  [
    "logs every send to a disabled endpoint",
    ({ settle }) => ({
      settle: (settlements) =>
        Effect.map(
          Effect.forEach(settlements, (settlement) =>
            settle([{
              ...settlement,
              send: settlement.send === null
                ? null
                : { ...settlement.send, outcome: { reason: "status_500", httpStatus: 500 } }
            }])),
          (settled) => settled.flat()
        )
    }),
    "does not count deliveries to a disabled endpoint as failed sends, and logs the first of many"
  ],
  [
    "lists no due endpoints",
    () => ({ due: () => Effect.succeed({ endpoints: [], nextAt: null }) }),
    "lists due endpoints in the order of ids, and when to poll again"
  ],
  [
    "lists due endpoints from the first one",
    ({ due }) => ({ due: (now, limit) => due(now, limit) }),
    "lists due endpoints in the order of ids, and when to poll again"
  ],
  [
    "restarts nothing",
    () => ({ restart: () => Effect.void }),
    "resends an ended delivery under its id with the whole schedule"
  ],
  [
    "restarts any number of failed deliveries",
    ({ restartFailed }) => ({ restartFailed: (options) => restartFailed({ ...options, pendingMax: 1_000 }) }),
    "resends the failed deliveries of an endpoint since a time, oldest first, up to a number of pending ones"
  ],
  [
    "expires deliveries under a lease",
    ({ expire }) => ({ expire: (before, now, limit) => expire(before, DateTime.add(now, { days: 9 }), limit) }),
    "does not expire a delivery under a lease"
  ],
  [
    "sweeps nothing",
    () => ({ sweep: () => Effect.succeed(0) }),
    "expires pending deliveries and deletes ended ones by when they were published or restarted"
  ],
  [
    "trims every line",
    ({ trimSends }) => ({ trimSends: (_, limit) => trimSends(0, limit) }),
    "lists the newest lines of an endpoint's log, and trims the others"
  ],
  [
    "finds endpoints that failed for half of the time",
    ({ lockFailing }) => ({
      lockFailing: (after, limit) => lockFailing(Duration.times(after, 0.5), limit)
    }),
    "disables an endpoint of which every send failed for 5 days, and publishes an event about it"
  ],
  [
    "forgets failures when secrets are sealed again",
    ({ saveEndpoint }) => ({ saveSecrets: saveEndpoint }),
    "does not begin the time again when secrets are sealed again"
  ],
  [
    "keeps failures after a change of the endpoint",
    ({ saveEndpoint, saveSecrets }) => ({
      saveEndpoint: (record) => record.endpoint.status === "enabled" ? saveSecrets(record) : saveEndpoint(record)
    }),
    "begins the time again after a change of the endpoint and after a new secret"
  ],
  [
    "keeps the log of an account that is forgotten",
    () => ({ forget: () => Effect.succeed(0) }),
    "deletes endpoints, deliveries and logs in sets, and those of no other account"
  ]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for a store that ${fault}`, () =>
    Effect.gen(function*() {
      assert.include(yield* failuresOf(change), test)
    }))
}

it.effect("fails for a store that takes no part in units of work", () =>
  Effect.gen(function*() {
    const memory = MemoryWebhookStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    const apart = yield* Effect.provide(WebhookStore, memory)
    assert.include(
      yield* failuresOf(() => apart),
      "stores nothing of an event whose unit of work rolls back"
    )
  }))
