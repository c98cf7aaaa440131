/** The limits of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import { createLimits } from "../src/promise.ts"

it("counts hits, which a result describes with dates, and ends with `await using`", async () => {
  await using limits = await createLimits({ memory: true })
  const hit = { key: "requests/ada", limit: 3 }
  const first = await limits.hit(hit)
  assert.deepInclude(first, { accepted: true, limit: 3, remaining: 2 })
  assert.strictEqual(first.resetsAt.getTime() % 60_000, 0)
  assert.isAtMost(first.at.getTime(), first.resetsAt.getTime())
  // A minute that ends meanwhile counts from the beginning, so the set alone fills it.
  const verdicts = await limits.hitAll([{ ...hit, cost: 3 }, { ...hit, cost: 3 }, { key: "requests/bob", limit: 1 }])
  assert.isAtMost(verdicts.filter(({ limit }) => limit === 3).filter(({ accepted }) => accepted).length, 1)
  assert.isTrue(verdicts[2]?.accepted)
  assert.isFalse((await limits.peek({ key: "requests/eve", limit: 1, cost: 2 })).accepted)
})

it("holds a place until it is released, its signal aborts, or the limits close", async () => {
  const limits = await createLimits({ memory: true })
  const streams = { key: "streams/ada", max: 2 }
  const first = await limits.acquire(streams)
  const controller = new AbortController()
  const second = await limits.acquire({ ...streams, signal: controller.signal })
  assert.isUndefined(await limits.acquire(streams))
  assert.strictEqual(await limits.held(streams), 2)
  await Promise.all([first?.release(), first?.release()])
  assert.strictEqual(await limits.held(streams), 1)
  controller.abort()
  await second?.release()
  assert.strictEqual(await limits.held(streams), 0)
  {
    await using place = await limits.acquire(streams)
    assert.isDefined(place)
    assert.strictEqual(await limits.held(streams), 1)
  }
  assert.strictEqual(await limits.held(streams), 0)
  assert.isTrue(await limits.acquireFor({ key: "submits/ada", max: 1, lasts: "1 hour" }))
  assert.isFalse(await limits.acquireFor({ key: "submits/ada", max: 1, lasts: 3_600_000 }))
  await limits.close()
})

it("reserves amounts in full or not at all, and returns what was not used", async () => {
  await using limits = await createLimits({ memory: true })
  const request = { key: "bytes/ada", limit: 1_000, amount: 800 }
  const reserved = await limits.reserve(request)
  if (reserved._tag !== "Granted") throw new Error("The amount was not reserved")
  assert.deepInclude(await limits.reserve(request), { _tag: "Refused", remaining: 200 })
  await limits.settle({ reservation: reserved.reservation, used: 300 })
  assert.strictEqual(await limits.used({ key: "bytes/ada" }), 300)
  const all = await limits.reserveAll([{ ...request, amount: 700 }, { ...request, amount: 1 }])
  assert.deepStrictEqual(all.map(({ _tag }) => _tag), ["Granted", "Refused"])
})

it("rejects a transaction, which memory cannot join, and a call whose signal has aborted", async () => {
  await using limits = await createLimits({ memory: true })
  const hit = { key: "requests/ada", limit: 3 }
  const rejection = (call: Promise<unknown>) => call.then(() => "", String)
  const tx = { query: () => Promise.reject(new Error("unused")) }
  assert.match(
    await rejection(limits.hit({ ...hit, tx })),
    /TypeError: A service outside of the database cannot join a transaction/
  )
  const signal = AbortSignal.abort(new Error("the request ended"))
  assert.match(await rejection(limits.hit({ ...hit, signal })), /the request ended/)
  assert.match(await rejection(limits.acquire({ key: "streams/ada", max: 1, signal })), /the request ended/)
  assert.strictEqual(await limits.held({ key: "streams/ada" }), 0)
})

it("forgets the counter, the amounts and the leases of a key", async () => {
  await using limits = await createLimits({ memory: true })
  const key = "ada"
  const search = { key, limit: 1, window: "1 day", algorithm: "slidingWindow" } as const
  assert.isTrue((await limits.hit(search)).accepted)
  assert.isFalse((await limits.hit(search)).accepted)
  await limits.reserve({ key, limit: 10, amount: 4 })
  assert.isTrue(await limits.acquireFor({ key, max: 1, lasts: "1 hour" }))
  assert.strictEqual(await limits.forget({ key, window: "1 day", algorithm: "slidingWindow", rowsMax: 1 }), 3)
  assert.strictEqual(await limits.used({ key }), 0)
  assert.strictEqual(await limits.held({ key }), 0)
  assert.isTrue((await limits.hit(search)).accepted)
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using limits = await createLimits({ memory: true })
  const wrong = [
    ["hit", {}, "key of hit"],
    ["hit", { key: "ada", limit: "5" }, "limit of hit"],
    ["hitAll", [{ key: "ada" }], "limit of item 0 of hitAll"],
    ["acquireFor", { key: "ada", max: 1, lasts: "soon" }, "lasts of acquireFor"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(limits, method), limits, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
