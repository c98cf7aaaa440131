import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { Deferred, Duration, Effect, Exit, Fiber, Latch, Queue } from "effect"
import { TestClock } from "effect/testing"
import { defaults } from "../src/HttpServerOptions.ts"
import * as RequestBudget from "../src/middleware/requestBudget.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const make = (requestsMax = 512) => RequestBudget.make({ ...defaults, requestTime: Duration.seconds(5), requestsMax })

const late = Effect.succeed("late" as const)
const overloaded = Effect.succeed("overloaded" as const)
const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

it.effect("responds when the time is used up, interrupts the request, and does not wait for what it cannot interrupt", () =>
  Effect.gen(function*() {
    const budgeted = yield* make()
    const interrupted = yield* Deferred.make<void>()
    const hanging = yield* start(
      budgeted(
        ({ within }) => within(Effect.ensuring(Effect.never, Deferred.succeed(interrupted, undefined)), late),
        overloaded
      )
    )
    const committed = yield* Deferred.make<void>()
    const commit = yield* Deferred.make<void>()
    const committing = yield* start(budgeted(
      ({ within }) =>
        within(
          Effect.uninterruptible(Effect.andThen(Deferred.await(commit), Deferred.succeed(committed, undefined))),
          late
        ),
      overloaded
    ))
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(hanging.pollUnsafe())
    yield* TestClock.adjust("300 millis")
    assert.strictEqual(yield* Fiber.join(hanging), "late")
    assert.strictEqual(yield* Fiber.join(committing), "late")
    yield* Deferred.await(interrupted)
    yield* Deferred.succeed(commit, undefined)
    yield* Deferred.await(committed)
  }).pipe(Effect.scoped))

it.effect("does not count the time of waits", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(1)
    const gate = yield* Deferred.make<void>()
    const waiting = yield* start(budgeted(
      ({ paused, within }) => within(Effect.andThen(paused(Deferred.await(gate)), Effect.never), late),
      overloaded
    ))
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(waiting.pollUnsafe())
    // A request that waits does not keep others out, either.
    assert.strictEqual(yield* budgeted(() => Effect.succeed("handled"), overloaded), "handled")
    yield* Deferred.succeed(gate, undefined)
    yield* TestClock.adjust("4 seconds")
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(yield* Fiber.join(waiting), "late")
  }).pipe(Effect.scoped))

it.effect("rejects requests above the maximum, also after requests that failed and were interrupted", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(2)
    const send = budgeted(({ within }) => within(Effect.never, late), overloaded)
    const failing = budgeted(({ within }) => within(Effect.fail("failed"), late), overloaded)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
    const first = yield* start(send)
    yield* start(send)
    assert.strictEqual(yield* send, "overloaded")
    yield* Fiber.interrupt(first)
    assert.strictEqual(yield* Effect.flip(failing), "failed")
    yield* start(send)
    assert.strictEqual(yield* send, "overloaded")
  }).pipe(Effect.scoped))

type Budgeted = Effect.Success<ReturnType<typeof make>>

/** Starts a request of an account that does not end. Returns `undefined` if there is no place for it. */
const hold = Effect.fnUntraced(function*(budgeted: Budgeted, account: string) {
  const request = budgeted(
    ({ claim, within }) => claim(account) ? within(Effect.never, late) : overloaded,
    overloaded
  )
  const fiber = yield* start(request)
  return fiber.pollUnsafe() === undefined ? fiber : undefined
})

it.effect("gives an account as many places as are free, and leaves some for each other account", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(12)
    const holdAll = Effect.fnUntraced(function*(account: string) {
      const held: Array<Fiber.Fiber<unknown>> = []
      for (let fiber = yield* hold(budgeted, account); fiber !== undefined; fiber = yield* hold(budgeted, account)) {
        held.push(fiber)
      }
      return held
    })
    const first = yield* holdAll("first")
    assert.strictEqual(first.length, 6)
    const others = yield* Effect.forEach(["second", "third", "fourth"], holdAll)
    assert.deepStrictEqual(others.map(({ length }) => length), [3, 1, 1])
    assert.isEmpty(yield* holdAll("first"))
    // A request whose account is not known yet can have the last place too.
    const unknown = yield* start(budgeted(({ within }) => within(Effect.never, late), overloaded))
    assert.isUndefined(unknown.pollUnsafe())
    assert.isUndefined(yield* hold(budgeted, "fifth"))
    yield* Fiber.interruptAll([...first, ...others.flat(), unknown])
    assert.strictEqual((yield* holdAll("second")).length, 6)
  }).pipe(Effect.scoped))

it.effect("counts a request for its account once, and not while it waits or after it was late", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(2)
    const gate = yield* Deferred.make<void>()
    const waiting = yield* start(budgeted(({ claim, paused, within }) => {
      assert.isTrue(claim("one"))
      const wait = Effect.suspend(() => {
        assert.isTrue(claim("one"))
        return Deferred.await(gate)
      })
      return within(Effect.andThen(paused(wait), Effect.never), late)
    }, overloaded))
    const second = yield* hold(budgeted, "one")
    assert.isDefined(second)
    assert.isUndefined(yield* hold(budgeted, "one"))
    if (second !== undefined) yield* Fiber.interrupt(second)
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.yieldNow
    assert.isUndefined(yield* hold(budgeted, "one"))
    yield* TestClock.adjust("6 seconds")
    assert.strictEqual(yield* Fiber.join(waiting), "late")
    assert.isDefined(yield* hold(budgeted, "one"))
  }).pipe(Effect.scoped))

it.effect("holds a place for each account, however many another one asks for with all of its keys", () =>
  Effect.gen(function*() {
    const entered = yield* Queue.unbounded<void>()
    const gate = yield* Latch.make()
    const send = yield* Effect.updateService(
      Host.start({ requestsMax: 8 }),
      Ledger.Ledger,
      (ledger) =>
        Ledger.Ledger.of({
          ...ledger,
          balances: (...asked) =>
            Effect.andThen(Queue.offer(entered, undefined), Effect.andThen(gate.await, ledger.balances(...asked)))
        })
    )
    const { account, key } = yield* Host.openAccount()
    const other = yield* Host.openAccount({ email: "other@example.com" })
    const keys = [key]
    for (let n = 0; n < 4; n++) {
      keys.push((yield* Accounts.Accounts.use(({ createKey }) => createKey(account.id, "test"))).key)
    }
    const hanging = yield* Effect.forEach(
      keys.slice(0, 4),
      (key) => Effect.forkChild(send("GET", "/v1/account", { key }))
    )
    yield* Queue.takeN(entered, 4)

    const refused = yield* send("GET", "/v1/models", { key: keys[4] })
    assert.include(errorOf(refused, "unavailable").message, "of the account")
    assert.strictEqual(refused.headers["retry-after"], "1")
    assert.strictEqual(limitOf(refused).limit, 60)
    assert.strictEqual((yield* send("GET", "/v1/models", { key: other.key })).status, 200)

    yield* gate.open
    assert.deepStrictEqual((yield* Fiber.joinAll(hanging)).map(({ status }) => status), [200, 200, 200, 200])
    const accepted = yield* send("GET", "/v1/models", { key: keys[4] })
    // The rejected request did not count.
    assert.deepStrictEqual([accepted.status, limitOf(accepted).remaining], [200, 299])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
