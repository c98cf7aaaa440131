/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Duration, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import * as MemoryIdempotencyStore from "../src/MemoryIdempotencyStore.ts"
import type { Arriving, Held, Slot } from "../src/StoreRules.ts"

type Store = IdempotencyStore["Service"]

/** Returns the names of the tests that fail for a store in memory with a fault. */
const failuresOf = Effect.fnUntraced(function*(fault: (store: Store) => Partial<Store>) {
  const store = Layer.effect(IdempotencyStore, Effect.map(IdempotencyStore, (store) => ({ ...store, ...fault(store) })))
    .pipe(Layer.provide(MemoryIdempotencyStore.layer), Layer.provideMerge(UnitOfWork.layerMemory))
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

const longer = (arriving: ReadonlyArray<Arriving>) =>
  arriving.map((one) => ({ ...one, window: Duration.sum(one.window, Duration.millis(1)) }))

/** A store that stores other texts than the scope and the identity. */
const withSlots = (stored: (text: string) => string) => (store: Store): Partial<Store> => {
  const change = <A extends Slot>(slot: A) => ({
    ...slot,
    scope: stored(slot.scope),
    identity: stored(slot.identity)
  })
  const each = <A extends Slot, E>(
    slots: ReadonlyArray<A>,
    call: (slot: A) => Effect.Effect<ReadonlyArray<Held>, E>
  ) =>
    Effect.map(
      Effect.forEach(slots, (slot) =>
        Effect.map(call(change(slot)), (held) =>
          held.map((one) => ({ ...one, scope: slot.scope, identity: slot.identity })))),
      (held) =>
        held.flat()
    )
  return {
    find: (slots) => each(slots, (slot) => store.find([slot])),
    claim: (arriving) => each(arriving, (one) => store.claim([one])),
    release: (held) => store.release(held.map(change)),
    extend: (arriving) => store.extend(arriving.map(change)),
    renew: (arriving) => store.renew(arriving.map(change)),
    complete: (completion) => store.complete(change(completion))
  }
}

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "forgets one set only",
    ({ forget }) => ({
      forget: (scope, limit) => Effect.map(forget(scope, limit), (count) => Math.min(count, limit - 1))
    }),
    "forgets all claims of a scope in sets, expired or not, and those of no other scope"
  ],
  [
    "forgets nothing",
    () => ({ forget: () => Effect.succeed(0) }),
    "forgets stored responses, and a request that runs loses its lease"
  ],
  [
    "claims what is held",
    () => ({ claim: () => Effect.succeed([]) }),
    "finds nothing, then the reference, and refuses the key for another body"
  ],
  ["finds nothing", () => ({ find: () => Effect.succeed([]) }), "does not release what belongs to another reference"],
  [
    "ignores scopes",
    ({ find }) => ({
      find: (slots) =>
        Effect.map(
          find(slots.map((slot) => ({ ...slot, scope: slot.scope.replace("apart2", "apart") }))),
          (held) => held.map((one, index) => ({ ...one, scope: slots[index]!.scope }))
        )
    }),
    "does not match requests of different scopes"
  ],
  [
    "releases nothing",
    () => ({ release: () => Effect.void }),
    "frees the keys of refused requests of a set, and keeps the others"
  ],
  [
    "releases claims of others",
    ({ find, release }) => ({
      release: (held) => Effect.flatMap(find(held), release)
    }),
    "does not release what belongs to another reference"
  ],
  [
    "holds claims longer",
    ({ claim }) => ({ claim: (arriving) => claim(longer(arriving)) }),
    "holds a request with a key to the millisecond for 1d"
  ],
  ["extends nothing", () => ({ extend: () => Effect.void }), "restarts the window of a request without a key"],
  [
    "extends claims of others",
    ({ extend, find }) => ({
      extend: (arriving) =>
        Effect.flatMap(
          find(arriving),
          (held) =>
            extend(arriving.map((one, index) => ({ ...one, reference: held[index]?.reference ?? one.reference })))
        )
    }),
    "does not extend the claim of another reference, or the window of a key"
  ],
  ["renews nothing", () => ({ renew: () => Effect.void }), "renews a claim of the same reference from now"],
  [
    "stores no response",
    () => ({ complete: () => Effect.succeed(true) }),
    "keeps a response for its window, and a marker of one that is too large"
  ],
  [
    "sweeps nothing",
    () => ({ sweep: () => Effect.succeed(0) }),
    "sweeps up to the limit of expired claims, and no others"
  ],
  [
    "compares slots without their case",
    withSlots((text) => text.toLowerCase()),
    "does not match requests with keys that differ in case, spaces, or at the end only"
  ],
  [
    "compares slots without spaces at the end",
    withSlots((text) => text.trimEnd()),
    "does not match requests with scopes that differ in case, accents, spaces, or at the end only"
  ],
  [
    "stores the beginning of slots",
    withSlots((text) => text.slice(0, 255)),
    "does not match requests with keys that differ in case, spaces, or at the end only"
  ],
  [
    "shortens windows",
    ({ extend, release }) => ({ extend: (arriving) => Effect.andThen(release(arriving), extend(arriving)) }),
    "does not shorten the window of a request without a key"
  ],
  [
    "renews claims with a response",
    ({ extend }) => ({ renew: extend }),
    "does not renew a claim that has a response"
  ],
  [
    "stores no empty body",
    ({ complete }) => ({
      complete: ({ response, ...completion }) =>
        complete({
          ...completion,
          response: { ...response, body: response.body?.length === 0 ? undefined : response.body }
        })
    }),
    "distinguishes a response with an empty body from one without"
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
    const memory = MemoryIdempotencyStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    const apart = yield* Effect.provide(IdempotencyStore, memory)
    assert.include(yield* failuresOf(() => apart), "frees the key when the unit of work rolls back")
  }))
