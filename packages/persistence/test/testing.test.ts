/** The contract that others run on their units of work fails for units with a fault. */
import { assert, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Cells } from "../src/internal/contract/cells.ts"
import { registers } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import { layerMemory, MemoryBackend, UnitEnded, UnitOfWork } from "../src/UnitOfWork.ts"

type Units = UnitOfWork["Service"]

type Body = Effect.Effect<unknown, unknown, unknown>

/** Reads and writes all cells at once. */
interface Snapshots {
  readonly take: () => ReadonlyMap<string, number>
  readonly restore: (snapshot: ReadonlyMap<string, number>) => Effect.Effect<void>
}

type Fault = (units: Units, snapshots: Snapshots) => Partial<Units>

/** Returns the names of the tests that fail for units in memory with a fault. */
const failuresOf = Effect.fnUntraced(function*(fault: Fault) {
  const services = Layer.effectContext(Effect.gen(function*() {
    const { cells, snapshots } = makeCells(yield* MemoryBackend)
    const units = yield* UnitOfWork
    return Context.add(Context.make(Cells, cells), UnitOfWork, { ...units, ...fault(units, snapshots) })
  })).pipe(Layer.provide(layerMemory))
  const failures: Array<string> = []
  const tests: Array<Effect.Effect<void>> = []
  const test: Register = (name, body) => {
    const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services)))
    tests.push(Effect.map(run, (exit) => {
      if (Exit.isFailure(exit)) failures.push(name)
    }))
  }
  for (const register of registers) register(test)
  // Each test has cells and a time of its own.
  for (const run of tests) yield* Effect.provide(run, TestClock.layer())
  return failures
})

/** Cells in memory. Their fibers yield after each call, so that units without a lock meet. */
const makeCells = ({ access, makeMap }: MemoryBackend["Service"]) => {
  const cells = makeMap<string, number>()
  const get = (key: string) => Effect.tap(access(() => cells.get(key)), Effect.yieldNow)
  const snapshots: Snapshots = {
    take: () => new Map(cells.entries()),
    restore: (snapshot) =>
      access(() => {
        for (const [key] of Array.from(cells.entries())) if (!snapshot.has(key)) cells.delete(key)
        for (const [key, value] of snapshot) cells.set(key, value)
      })
  }
  return {
    cells: Cells.of({
      put: (key, value) => Effect.tap(access(() => cells.set(key, value)), Effect.yieldNow),
      get,
      lock: get
    }),
    snapshots
  }
}

/** Units that run their body like this. The assertion is for the errors, which a fault passes on as they are. */
const running = (run: (effect: Body) => Body): Partial<Units> => ({ atomically: run as Units["atomically"] })

/** Units whose outermost ones and nested ones run like this. */
const runningEach = (
  { isOpen }: Units,
  { nested, outermost }: { readonly nested: (effect: Body) => Body; readonly outermost: (effect: Body) => Body }
) => running((effect) => Effect.flatMap(isOpen, (open) => open ? nested(effect) : outermost(effect)))

/** Units that commit although their body has failed, if its cause is like this. */
const committing = (isCommitted: (cause: Cause.Cause<unknown>) => boolean): Fault => ({ atomically }) =>
  running((effect) =>
    Effect.uninterruptibleMask((restore) =>
      restore(effect).pipe(
        Effect.exit,
        Effect.flatMap((exit) =>
          Exit.isSuccess(exit) || isCommitted(exit.cause) ? Effect.succeed(exit) : Effect.failCause(exit.cause)
        ),
        atomically,
        Effect.flatten
      )
    )
  )

type Callbacks = ReadonlyArray<Effect.Effect<void>>

/** Units with callbacks that run like this after the outermost one. */
const calling =
  (run: (callbacks: Callbacks, exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>): Fault => (units) => {
    let registered: Array<Effect.Effect<void>> = []
    return {
      ...runningEach(units, {
        nested: units.atomically,
        outermost: (effect) =>
          Effect.suspend(() => {
            let own: Callbacks = []
            const begin = Effect.sync(() => {
              registered = []
              own = registered
            })
            return Effect.onExit(units.atomically(Effect.andThen(begin, effect)), (exit) => run(own, exit))
          })
      }),
      afterCommit: (effect) =>
        Effect.flatMap(units.isOpen, (open) => open ? Effect.sync(() => void registered.push(effect)) : effect)
    }
  }

const runAll = (callbacks: Callbacks) =>
  Effect.forEach(callbacks, (callback) => Effect.ignoreCause(callback), { discard: true })

it.effect("passes for units in memory, and for units with callbacks of their own", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* failuresOf(() => ({})), [])
    const own = calling((callbacks, exit) => Exit.isSuccess(exit) ? runAll(callbacks) : Effect.void)
    assert.deepStrictEqual(yield* failuresOf(own), [])
  }))

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, change: Fault, test: string]> = [
  ["commit after a failure", committing(Cause.hasFails), "undoes all writes when the body fails"],
  ["commit after a defect", committing(Cause.hasDies), "undoes all writes when the body dies"],
  [
    "commit after an interruption",
    committing(Cause.hasInterruptsOnly),
    "undoes all writes when the fiber is interrupted"
  ],
  [
    "fail with defects",
    ({ atomically }) => running((effect) => Effect.orDie(atomically(effect))),
    "undoes all writes when the body fails"
  ],
  [
    "have no transaction",
    () => running((effect) => effect),
    "hides uncommitted writes from readers outside of the unit"
  ],
  [
    "run at the same time without locks",
    (_, { restore, take }) =>
      running((effect) =>
        Effect.suspend(() => {
          const before = take()
          return Effect.onError(effect, () => restore(before))
        })
      ),
    "loses no update of concurrent units"
  ],
  [
    "undo a nested unit alone, like a savepoint",
    (units, { restore, take }) =>
      runningEach(units, {
        outermost: units.atomically,
        nested: (effect) =>
          Effect.suspend(() => {
            const before = take()
            return Effect.onError(effect, () => restore(before))
          })
      }),
    "rolls the whole unit back when the failure of a nested unit is recovered"
  ],
  [
    "commit a nested unit before the outermost one",
    (units, { restore, take }) => {
      let committed: ReadonlyMap<string, number> = new Map()
      return runningEach(units, {
        outermost: (effect) => Effect.onError(units.atomically(effect), () => restore(committed)),
        nested: (effect) =>
          Effect.tap(units.atomically(effect), () =>
            Effect.sync(() => {
              committed = take()
            }))
      })
    },
    "joins the open unit when nested"
  ],
  [
    "run concurrent nested units at the same time",
    (units) => runningEach(units, { outermost: units.atomically, nested: (effect) => effect }),
    "runs concurrent nested units one after the other, so that they lose no update"
  ],
  [
    "let fibers write after the unit has ended",
    ({ atomically }) =>
      running((effect) =>
        Effect.catchCause(
          atomically(effect),
          (cause) => Cause.squash(cause) instanceof UnitEnded ? effect : Effect.failCause(cause)
        )
      ),
    "dies when a fiber that outlives a unit joins it"
  ],
  ["lose callbacks", () => ({ afterCommit: () => Effect.void }), "runs callbacks after the outermost commit, in order"],
  [
    "run callbacks immediately",
    () => ({ afterCommit: (effect) => effect }),
    "runs callbacks after the outermost commit, in order"
  ],
  [
    "run callbacks in the reverse order",
    calling((callbacks, exit) => Exit.isSuccess(exit) ? runAll(callbacks.toReversed()) : Effect.void),
    "runs callbacks after the outermost commit, in order"
  ],
  ["run callbacks after a rollback", calling(runAll), "drops callbacks of a unit that rolled back"],
  [
    "run callbacks after an interruption",
    calling((callbacks, exit) =>
      Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? runAll(callbacks) : Effect.void
    ),
    "drops the callbacks of a unit whose fiber is interrupted"
  ],
  [
    "stop at a callback that dies",
    calling((callbacks, exit) =>
      Exit.isSuccess(exit) ? Effect.forEach(callbacks, (callback) => callback, { discard: true }) : Effect.void
    ),
    "runs the other callbacks when one dies, after the unit has committed"
  ],
  [
    "run callbacks before the commit",
    (units) => {
      const registered: Array<Effect.Effect<void>> = []
      const runRegistered = Effect.suspend(() => runAll(registered.splice(0)))
      return {
        ...runningEach(units, {
          nested: units.atomically,
          outermost: (effect) => units.atomically(Effect.tap(effect, runRegistered))
        }),
        afterCommit: (effect) => Effect.sync(() => void registered.push(effect))
      }
    },
    "returns whether the fiber is inside a unit"
  ],
  [
    "run callbacks at the end of a nested unit",
    (units) => {
      const registered: Array<Effect.Effect<void>> = []
      const runRegistered = Effect.suspend(() => runAll(registered.splice(0)))
      return {
        ...running((effect) => Effect.tap(units.atomically(effect), runRegistered)),
        afterCommit: (effect) =>
          Effect.flatMap(units.isOpen, (open) => open ? Effect.sync(() => void registered.push(effect)) : effect)
      }
    },
    "runs callbacks after the outermost commit, in order"
  ],
  [
    "run the callbacks of another unit",
    (units) => {
      const registered: Array<Effect.Effect<void>> = []
      return {
        ...runningEach(units, {
          nested: units.atomically,
          outermost: (effect) =>
            Effect.tap(units.atomically(effect), () => Effect.suspend(() => runAll(registered.splice(0))))
        }),
        afterCommit: (effect) =>
          Effect.flatMap(units.isOpen, (open) => open ? Effect.sync(() => void registered.push(effect)) : effect)
      }
    },
    "runs the callbacks of each of two concurrent units with its own commit"
  ],
  ["are never open", () => ({ isOpen: Effect.succeed(false) }), "returns whether the fiber is inside a unit"]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for units that ${fault}`, () =>
    Effect.gen(function*() {
      assert.include(yield* failuresOf(change), test)
    }))
}
