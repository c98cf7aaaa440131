import { assert, it } from "@effect/vitest"
import { Cause, Clock, Deferred, type Duration, Effect, Exit, Fiber, Queue, Result, Scheduler, Schema } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Folding from "../src/Folding.ts"
import { StorageError } from "../src/StorageError.ts"
import { layerMemory, UnitOfWork } from "../src/UnitOfWork.ts"

/** A unit of work that is never open. */
const notOpen: UnitOfWork["Service"] = {
  atomically: () => Effect.die("not used by folds"),
  afterCommit: () => Effect.void,
  isOpen: Effect.succeed(false)
}

/** A fold that records its sets and runs them when the test opens it. */
const makeGated = Effect.fnUntraced(function*(membersMax: number, unitOfWork = notOpen) {
  const sets: Array<ReadonlyArray<number>> = []
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const call = Folding.makeWith<number, number, StorageError>(unitOfWork, {
    name: "test",
    membersMax,
    run: (commands) => {
      sets.push(commands)
      return Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Deferred.await(gate)),
        Effect.as(commands.map((command) => command * 10))
      )
    }
  })
  return { call, sets, started, open: Deferred.succeed(gate, undefined) }
})

const failed = (reason: StorageError["reason"]) => new StorageError({ operation: "test", reason, cause: "test" })

const lockTimeout = new StorageError({
  operation: "test",
  reason: "unavailable",
  cause: new SqlError.SqlError({ reason: new SqlError.LockTimeoutError({ cause: "55P03" }) })
})

const Does = Schema.Literals(["works", "works", "fails", "dies"])
type Does = typeof Does.Type

/** A caller, which may leave before its result. */
const Caller = Schema.Struct({
  does: Does,
  leavesAfter: Schema.UndefinedOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))),
  /** Number of operations after which its fiber yields. */
  ops: Schema.Int.check(Schema.isBetween({ minimum: 3, maximum: 9 }))
})

const problems = { fails: failed("failed"), dies: new Error("bug") }

/** The result, or the failure. */
const outcomeOf = <A, E>(exit: Exit.Exit<A, E>) => Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)

it.effect("runs a call immediately when idle, and folds calls that arrive while it runs", () =>
  Effect.gen(function*() {
    const { call, open, sets, started } = yield* makeGated(64)
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 3, 4], (n) => Effect.forkChild(call(n), { startImmediately: true }))
    yield* open
    assert.strictEqual(yield* Fiber.join(first), 10)
    assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), [20, 30, 40])
    assert.deepStrictEqual(sets, [[1], [2, 3, 4]])
  }))

it.effect("never exceeds the maximum number of members", () =>
  Effect.gen(function*() {
    const { call, open, sets, started } = yield* makeGated(10)
    const first = yield* Effect.forkChild(call(0))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach(
      Array.from({ length: 35 }, (_, n) => n + 1),
      (n) => Effect.forkChild(call(n), { startImmediately: true })
    )
    yield* open
    yield* Fiber.join(first)
    yield* Effect.forEach(others, Fiber.join)
    assert.isTrue(sets.every((set) => set.length <= 10))
    assert.strictEqual(sets.flat().length, 36)
  }))

it.effect("runs the commands one by one when the set fails as a whole", () =>
  Effect.gen(function*() {
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      run: (commands) =>
        Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(commands.includes(13) ? Effect.fail(failed("failed")) : Effect.succeed(commands))
        )
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 13, 4], (n) =>
      Effect.forkChild(Effect.exit(call(n)), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    const exits = yield* Effect.forEach(others, Fiber.join)
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
  }))

it.effect("does not run a set again whose outcome is unknown", () =>
  Effect.gen(function*() {
    let runs = 0
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      run: (commands) => {
        runs++
        return commands.length === 1
          ? Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(gate)), Effect.as(commands))
          : Effect.fail(failed("unavailable"))
      }
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 3], (n) =>
      Effect.forkChild(Effect.exit(call(n)), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    const exits = yield* Effect.forEach(others, Fiber.join)
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [false, false])
    assert.strictEqual(runs, 2)
  }))

it.effect("runs the commands of a set one by one after a lock timeout", () =>
  Effect.gen(function*() {
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const blocked = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      run: (commands) => {
        if (commands[0] === 1) {
          return Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(gate)), Effect.as(commands))
        }
        if (!commands.includes(13)) return Effect.succeed(commands)
        return Effect.andThen(commands.length === 1 ? Deferred.await(blocked) : Effect.void, Effect.fail(lockTimeout))
      }
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach(
      [13, 2, 4],
      (n) => Effect.forkChild(Effect.exit(call(n)), { startImmediately: true })
    )
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    // The other commands do not wait for the blocked one.
    assert.deepStrictEqual((yield* Effect.forEach(others.slice(1), Fiber.join)).map(outcomeOf), [2, 4])
    yield* Deferred.succeed(blocked, undefined)
    assert.strictEqual(outcomeOf(yield* Fiber.join(others[0]!)), lockTimeout)
  }))

it.effect("runs the commands of a locked key apart from the others until its rows are free", () =>
  Effect.gen(function*() {
    const sets: Array<ReadonlyArray<number>> = []
    let locked: number | undefined = 3
    const opened = yield* Queue.unbounded<void>()
    const started = yield* Queue.unbounded<void>()
    const keyOf = (n: number) => n % 10
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      keyOf: (n) => `${keyOf(n)}`,
      run: (commands) => {
        sets.push(commands)
        if (commands.some((n) => keyOf(n) === locked)) return Effect.fail(lockTimeout)
        const gate = Effect.andThen(Queue.offer(started, undefined), Queue.take(opened))
        return Effect.as(commands.includes(1) ? gate : Effect.void, commands)
      }
    })
    const start = (n: number) => Effect.forkChild(call(n), { startImmediately: true })
    const together = Effect.fnUntraced(function*(calls: ReadonlyArray<number>) {
      const first = yield* start(1)
      yield* Queue.take(started)
      const others = yield* Effect.forEach(calls, start)
      yield* Queue.offer(opened, undefined)
      yield* Fiber.join(first)
      return others
    })
    const [waiting, ...others] = yield* together([13, 2, 12, 22])
    assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), [2, 12, 22])
    const later = yield* start(23)
    assert.strictEqual(yield* call(5), 5)
    const mixed = sets.filter((set) => set.some((n) => keyOf(n) === 3) && set.some((n) => keyOf(n) !== 3))
    assert.deepStrictEqual(mixed, [[13, 2, 12, 22]])

    locked = undefined
    assert.deepStrictEqual(yield* Effect.forEach([waiting!, later], Fiber.join), [13, 23])
    // The key is not remembered.
    assert.deepStrictEqual(yield* Effect.forEach(yield* together([33, 6]), Fiber.join), [33, 6])
    assert.deepInclude(sets, [33, 6])
  }))

it.effect("does not run a key in a full set that waits while the set before it finds the key locked", () =>
  Effect.gen(function*() {
    const sets: Array<ReadonlyArray<number>> = []
    let locked: number | undefined = 3
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      membersMax: 2,
      keyOf: (n) => `${n % 10}`,
      run: (commands) => {
        sets.push(commands)
        const isLocked = commands.some((n) => n % 10 === locked)
        if (sets.length > 1) return isLocked ? Effect.fail(lockTimeout) : Effect.succeed(commands)
        return Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(Effect.fail(lockTimeout))
        )
      }
    })
    const start = (n: number) => Effect.forkChild(call(n), { startImmediately: true })
    const first = yield* start(3)
    yield* Deferred.await(started)
    const late = yield* start(13)
    const other = yield* start(2)
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(other), 2)
    assert.deepInclude(sets, [2])
    assert.isFalse(sets.some((set) => set.includes(13) && set.includes(2)))
    locked = undefined
    assert.deepStrictEqual(yield* Effect.forEach([first, late], Fiber.join), [3, 13])
  }))

it.effect("tries a single command again after a lock timeout", () =>
  Effect.gen(function*() {
    let runs = 0
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      keyOf: String,
      run: (commands) => ++runs < 3 ? Effect.fail(lockTimeout) : Effect.succeed(commands)
    })
    assert.strictEqual(yield* call(1), 1)
    assert.strictEqual(runs, 3)
  }))

it.effect("does not delay the next sets by more than its patience when sets hang, and runs four of those at most", () =>
  Effect.gen(function*() {
    const sets: Array<ReadonlyArray<number>> = []
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      membersMax: 1,
      patience: "1 second",
      run: (commands) => {
        sets.push(commands)
        return Effect.as(commands[0]! < 0 ? Deferred.await(gate) : Effect.void, commands)
      }
    })
    const start = (n: number) => Effect.forkChild(call(n), { startImmediately: true })
    const hanging = yield* Effect.forEach([-1, -2, -3, -4], start)
    yield* TestClock.adjust("4 seconds")
    assert.deepStrictEqual(sets, [[-1], [-2], [-3], [-4]])
    assert.strictEqual(yield* call(1), 1)

    hanging.push(yield* start(-5))
    yield* TestClock.adjust("1 minute")
    const waiting = yield* start(2)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(sets, [[-1], [-2], [-3], [-4], [1], [-5]])
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(waiting), 2)
    assert.deepStrictEqual(yield* Effect.forEach(hanging, Fiber.join), [-1, -2, -3, -4, -5])
  }))

it.effect("runs the next set immediately when the running one is late already", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      patience: "1 second",
      run: (commands) => Effect.as(commands[0]! < 0 ? Deferred.await(gate) : Effect.void, commands)
    })
    const hanging = yield* Effect.forkChild(call(-1), { startImmediately: true })
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* call(1), 1)
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(hanging), -1)
    assert.strictEqual(yield* call(2), 2)
  }))

it.effect("runs thousands of waiting sets that end at once", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, never>(notOpen, {
      name: "test",
      membersMax: 1,
      run: (commands) => Effect.as(commands[0] === 0 ? Deferred.await(gate) : Effect.void, commands)
    })
    const fibers = yield* Effect.forEach(Array.from({ length: 20_000 }, (_, n) => n), (n) =>
      Effect.forkChild(call(n), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* Effect.forEach(fibers, Fiber.join)).length, 20_000)
  }))

it.effect("runs further sets after a key function that throws", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const problem = new Error("no key")
    let throws = false
    const call = Folding.makeWith<number, number, StorageError>(notOpen, {
      name: "test",
      keyOf: (n) => {
        if (throws && n === 3) throw problem
        return String(n)
      },
      run: (commands) =>
        commands[0] === 1
          ? Effect.andThen(Deferred.await(gate), Effect.fail(lockTimeout))
          : Effect.succeed(commands)
    })
    const start = (n: number) => Effect.forkChild(Effect.exit(call(n)), { startImmediately: true })
    const first = yield* start(1)
    const broken = yield* start(3)
    throws = true
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(outcomeOf(yield* Fiber.join(broken)), problem)
    assert.strictEqual(yield* call(2), 2)
    yield* Fiber.interrupt(first)
  }))

it.effect("leaves no timer behind when nothing waits or runs", () =>
  Effect.gen(function*() {
    const gates = Array.from({ length: 2 }, () => Deferred.makeUnsafe<void>())
    let set = 0
    const call = Folding.makeWith<number, number, never>(notOpen, {
      name: "test",
      run: (commands) => Effect.as(Deferred.await(gates[set++]!), commands)
    })
    let sleeping = 0
    const clock = yield* Clock.Clock
    const counted: Clock.Clock = {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping++),
          () => clock.sleep(duration),
          () => Effect.sync(() => sleeping--)
        )
    }
    yield* Effect.gen(function*() {
      const first = yield* Effect.forkChild(call(1), { startImmediately: true })
      assert.strictEqual(sleeping, 0)
      const second = yield* Effect.forkChild(call(2), { startImmediately: true })
      assert.strictEqual(sleeping, 1)
      yield* Deferred.succeed(gates[0]!, undefined)
      yield* Fiber.join(first)
      yield* Deferred.succeed(gates[1]!, undefined)
      yield* Fiber.join(second)
      assert.strictEqual(sleeping, 0)
    }).pipe(Effect.provideService(Clock.Clock, counted))
  }))

it.effect("does not run a set again that returned the wrong number of results", () =>
  Effect.gen(function*() {
    const sets: Array<ReadonlyArray<number>> = []
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.makeWith<number, number, never>(notOpen, {
      name: "test",
      run: (commands) => {
        sets.push(commands)
        return Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(gate)), Effect.as([1]))
      }
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 3], (n) =>
      Effect.forkChild(Effect.exit(call(n)), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(first), 1)
    for (const exit of yield* Effect.forEach(others, Fiber.join)) {
      assert.include(String(exit), "test returned 1 results for 2 commands")
    }
    assert.deepStrictEqual(sets, [[1], [2, 3]])
  }))

it.effect.prop(
  "returns to every remaining caller its own result, whichever callers leave and sets fail",
  [
    Schema.Array(Caller).check(Schema.isMaxLength(30)),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
  ],
  ([callers, membersMax, setsMax]) =>
    Effect.gen(function*() {
      const applied: Array<number> = []
      let working = 0
      const call = Folding.makeWith<{ readonly n: number; readonly does: Does }, number, StorageError>(notOpen, {
        name: "test",
        membersMax,
        setsMax,
        run: Effect.fnUntraced(function*(commands) {
          assert.isAtMost(commands.length, membersMax)
          if (commands.length > 1) assert.isAtMost(++working, setsMax)
          yield* Effect.yieldNow
          if (commands.length > 1) working--
          for (const { does } of commands) {
            if (does === "dies") return yield* Effect.die(problems.dies)
            if (does === "fails") return yield* problems.fails
          }
          applied.push(...commands.map(({ n }) => n))
          return commands.map(({ n }) => n * 10)
        })
      })
      const fibers = yield* Effect.forEach(callers, ({ does, ops }, n) =>
        call({ n, does }).pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, ops),
          Effect.forkChild({ startImmediately: true })
        ))
      yield* Effect.forEach(callers, ({ leavesAfter }, n) =>
        leavesAfter === undefined
          ? Effect.void
          : Effect.andThen(Effect.replicateEffect(Effect.yieldNow, leavesAfter), Fiber.interrupt(fibers[n]!)), {
        concurrency: "unbounded"
      })
      for (const [n, { does, leavesAfter }] of callers.entries()) {
        const exit = yield* Fiber.await(fibers[n]!)
        if (leavesAfter !== undefined && Exit.hasInterrupts(exit)) continue
        assert.strictEqual(outcomeOf(exit), does === "works" ? n * 10 : problems[does])
        if (does === "works") assert.include(applied, n)
      }
      assert.strictEqual(new Set(applied).size, applied.length)
    })
)

it.effect("continues the other calls of a set when one caller is interrupted", () =>
  Effect.gen(function*() {
    const { call, open, started } = yield* makeGated(64)
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const leaving = yield* Effect.forkChild(call(2), { startImmediately: true })
    const staying = yield* Effect.forkChild(call(3), { startImmediately: true })
    yield* Fiber.interrupt(first)
    yield* Fiber.interrupt(leaving)
    yield* open
    assert.strictEqual(yield* Fiber.join(staying), 30)
  }))

it.effect("runs a call inside a unit in that unit", () =>
  Effect.gen(function*() {
    const unitOfWork = yield* UnitOfWork
    const { call, open, sets } = yield* makeGated(64, unitOfWork)
    yield* open
    yield* unitOfWork.atomically(Effect.forEach([1, 2], call, { concurrency: 2 }))
    assert.deepStrictEqual(sets, [[1], [2]])
  }).pipe(Effect.provide(layerMemory)))

it.effect("fails a call with the refusal of its command, and leaves the unit open", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const call = yield* Folding.makeResult({
      name: "test",
      run: (commands: ReadonlyArray<number>) =>
        atomically(Effect.succeed(commands.map((n) => n > 1 ? Result.fail("too large" as const) : Result.succeed(n))))
    })
    assert.strictEqual(yield* call(1), 1)
    assert.strictEqual(yield* Effect.flip(call(2)), "too large")
    assert.strictEqual(yield* atomically(Effect.catch(call(2), Effect.succeed)), "too large")
  }).pipe(Effect.provide(layerMemory)))
