/** Idempotency of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import { createIdempotency, IdempotencyError, InvalidKeyError, KeyReusedError } from "../src/promise.ts"

const request = { scope: "ada", key: "k-1", body: { item: "lamp", count: 2 } }

it("does the work of a request once, and returns its reference to repetitions", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const placed: Array<string> = []
  const place = (reference: string, body = request.body) =>
    idempotency.once({ ...request, body, reference }, () => placed.push(reference))
  assert.deepStrictEqual(await idempotency.find(request), { _tag: "None" })
  assert.deepStrictEqual(await place("order-1"), { _tag: "Done", value: 1 })
  assert.deepStrictEqual(await place("order-2", { count: 2, item: "lamp" }), { _tag: "Replay", reference: "order-1" })
  assert.deepStrictEqual(await idempotency.find(request), { _tag: "Replay", reference: "order-1" })
  const error = await place("order-3", { item: "chair", count: 1 }).catch((error: unknown) => error)
  assert.instanceOf(error, KeyReusedError)
  assert.deepInclude(error, { name: "KeyReusedError", code: "key_reused" })
  assert.deepStrictEqual(placed, ["order-1"])
})

it("frees the key if the work rejects or throws", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const place = (work: () => Promise<string> | string) => idempotency.once({ ...request, reference: "order-1" }, work)
  const rejection = (call: Promise<unknown>) => call.then(() => "", String)
  assert.match(await rejection(place(() => Promise.reject(new Error("no lamps")))), /no lamps/)
  const thrown = place(() => {
    throw new Error("no chairs")
  })
  assert.match(await rejection(thrown), /no chairs/)
  assert.deepStrictEqual(await place(() => "placed"), { _tag: "Done", value: "placed" })
})

it("claims, releases and extends, with and without a key", async () => {
  await using idempotency = await createIdempotency({ memory: true, windows: { implicit: "1 minute" } })
  const claim = { scope: "ada", endpoint: "orders", body: [1], reference: "order-1" }
  assert.deepStrictEqual(await idempotency.claim(claim), { _tag: "Claimed" })
  await idempotency.extend(claim)
  const again = { ...claim, reference: "order-2" }
  assert.deepStrictEqual(await idempotency.claim(again), { _tag: "Replay", reference: "order-1" })
  assert.deepStrictEqual(await idempotency.claim({ ...again, endpoint: "parcels" }), { _tag: "Claimed" })
  await idempotency.release(claim)
  const set = [again, { ...claim, reference: "order-3" }, { ...again, key: "k-2" }, { ...again, key: "k-2", body: 2 }]
  assert.deepStrictEqual(await idempotency.claimAll(set), [
    { _tag: "Claimed" },
    { _tag: "Follower", leader: 0 },
    { _tag: "Claimed" },
    { _tag: "Reused" }
  ])
})

it("rejects keys that no header can have, a transaction, and a call whose signal has aborted", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const claim = { ...request, reference: "order-1" }
  for (const key of ["", "ключ", "k".repeat(256)]) {
    const error = await idempotency.claim({ ...claim, key }).catch((error: unknown) => error)
    assert.instanceOf(error, InvalidKeyError)
    assert.isTrue(error instanceof IdempotencyError)
    assert.deepInclude(error, { code: "invalid_key", key })
  }
  const rejection = (call: Promise<unknown>) => call.then(() => "", String)
  const tx = { query: () => Promise.reject(new Error("unused")) }
  assert.match(await rejection(idempotency.claim({ ...claim, tx })), /cannot join a transaction/)
  const signal = AbortSignal.abort(new Error("the request ended"))
  assert.match(await rejection(idempotency.claim({ ...claim, signal })), /the request ended/)
  assert.deepStrictEqual(await idempotency.find(request), { _tag: "None" })
})

it("begins a request once, and replays its response", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const asked = { scope: "ada", key: "k-1", body: { item: "lamp" } }
  const first = await idempotency.begin(asked)
  if (first._tag !== "First") throw new Error("The request has not begun")
  assert.deepStrictEqual(await idempotency.begin(asked), { _tag: "InProgress" })
  await first.request.release()
  const second = await idempotency.begin(asked)
  if (second._tag !== "First") throw new Error("The request has not begun")
  await second.request.complete({ status: 201, headers: [["location", "/orders/1"]], body: "created" })
  assert.deepStrictEqual(await idempotency.begin(asked), {
    _tag: "Replay",
    response: { status: 201, headers: [["location", "/orders/1"]], body: new TextEncoder().encode("created") }
  })
  assert.deepStrictEqual(await idempotency.begin({ ...asked, body: { item: "chair" } }), { _tag: "Reused" })
  const invalid = await idempotency.begin({ ...asked, key: "" }).catch((error: unknown) => error)
  assert.instanceOf(invalid, InvalidKeyError)
})

it("rejects a call whose signal aborts while it waits for a request", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const asked = { scope: "ada", key: "k-1", body: null }
  const first = await idempotency.begin(asked)
  if (first._tag !== "First") throw new Error("The request has not begun")
  const controller = new AbortController()
  const waiting = idempotency.begin({ ...asked, wait: "1 minute", signal: controller.signal })
  controller.abort(new Error("the client left"))
  assert.match(String(await waiting.catch((error: unknown) => error)), /the client left/)
  await first.request.release()
  assert.strictEqual((await idempotency.begin(asked))._tag, "First")
})

it("forgets the claims and responses of a scope", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  await idempotency.claim({ ...request, reference: "order-1" })
  await idempotency.claim({ ...request, scope: "grace", reference: "order-2" })
  const first = await idempotency.begin(request)
  if (first._tag !== "First") throw new Error("The request has not begun")
  await first.request.complete({ status: 201, headers: [], body: "created" })
  assert.strictEqual(await idempotency.forget({ scope: "ada", limit: 1 }), 2)
  assert.strictEqual(await idempotency.forget({ scope: "ada" }), 0)
  assert.deepStrictEqual(await idempotency.find(request), { _tag: "None" })
  assert.deepStrictEqual(await idempotency.find({ ...request, scope: "grace" }), {
    _tag: "Replay",
    reference: "order-2"
  })
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using idempotency = await createIdempotency({ memory: true })
  const wrong = [
    ["claim", { body: null }, "scope of claim"],
    ["begin", { scope: "ada", key: 1, body: null }, "key of begin"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(idempotency, method), idempotency, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
