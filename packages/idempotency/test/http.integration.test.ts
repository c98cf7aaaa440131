/** The middleware with responses in Postgres. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { makeApp } from "../example/transaction.ts"
import { runningRequest } from "../src/http.ts"
import { createIdempotency, type Idempotency, LeaseLostError } from "../src/promise.ts"
import { frameworks } from "./http/frameworks.ts"
import { outcomeOf, post } from "./http/requests.ts"
import { newScope, storageSuite } from "./http/suite.ts"

describe("on Postgres", () => {
  let program: PgProgram.PgProgram
  let idempotency: Idempotency
  beforeAll(async () => {
    program = await PgProgram.open()
    idempotency = await createIdempotency({ pool: program.pool, sweep: false })
    await program.pool.query("CREATE TABLE orders (scope text, item text, id uuid)")
  })
  afterAll(async () => {
    await idempotency.close()
    await program.close()
  })
  storageSuite(() => idempotency)

  for (const { name, start } of frameworks) {
    it(`commits the work of a handler with its response, or neither (${name})`, async () => {
      const scope = newScope()
      const failures = ["before the commit", "after the commit"]
      const url = await start({ idempotency, scope, wait: 0 }, async ({ native }) => {
        const failure = failures.shift()
        const response = { status: 201, headers: [["location", "/orders/1"]] as const, body: "created" }
        await program.inTransaction(async (tx) => {
          await tx.query("INSERT INTO orders VALUES ($1, 'lamp')", [scope])
          await runningRequest(native)?.complete(response, { tx })
          if (failure === "before the commit") throw new Error(failure)
        })
        if (failure === "after the commit") throw new Error(failure)
        return { status: response.status, body: "not reached" }
      })
      // The first request leaves nothing. The second one fails after its commit, so the client repeats it.
      const responses = [await post(url), await post(url), await post(url)]
      assert.deepStrictEqual(responses.map(outcomeOf), ["500", "500", "201 replayed"])
      assert.deepStrictEqual([responses[2]?.body, responses[2]?.headers.get("location")], ["created", "/orders/1"])
      const { rows } = await program.pool.query("SELECT item FROM orders WHERE scope = $1", [scope])
      assert.deepStrictEqual(rows, [{ item: "lamp" }])
    })
  }

  it("replays the order of the README's example with a transaction", async () => {
    const app = makeApp(program.pool, idempotency)
    const send = () => app.inject({ method: "POST", url: "/orders", headers: { "idempotency-key": "k-1" } })
    const [first, second] = [await send(), await send()]
    const { rows } = await program.pool.query("SELECT id FROM orders WHERE id IS NOT NULL")
    assert.deepStrictEqual(rows, [{ id: first.body }])
    for (const name of ["statusCode", "body"] as const) assert.strictEqual(second[name], first[name])
    assert.include(`${second.headers["content-type"]}`, "text/plain")
    assert.strictEqual(second.headers["idempotent-replayed"], "true")
    await app.close()
  })

  it("rolls back the work of a process that has lost its lease", async () => {
    const scope = newScope()
    const request = { scope, key: "k-1", body: null }
    // A process that stands still: its lease expires, and another one runs the request.
    await using slow = await createIdempotency({ pool: program.pool, sweep: false, runMax: 0, lease: 1 })
    const first = await slow.begin(request)
    const second = await idempotency.begin({ ...request, wait: "1 minute" })
    if (first._tag !== "First" || second._tag !== "First") throw new Error("A request has not begun")
    const late = program.inTransaction(async (tx) => {
      await tx.query("INSERT INTO orders VALUES ($1, 'lamp')", [scope])
      await first.request.complete({ status: 201 }, { tx })
    })
    const error = await late.catch((error: unknown) => error)
    assert.instanceOf(error, LeaseLostError)
    assert.deepInclude(error, { name: "LeaseLostError", code: "lease_lost" })
    assert.strictEqual((await program.pool.query("SELECT FROM orders WHERE scope = $1", [scope])).rows.length, 0)
    await second.request.complete({ status: 201 })
    const { rows } = await program.pool.query("SELECT response_status FROM idempotency_claim WHERE scope = $1", [scope])
    assert.deepStrictEqual(rows, [{ response_status: 201 }])
  })

  it("waits for a transaction that stores the response, although the lease has expired", async () => {
    const request = { scope: newScope(), key: "k-1", body: null }
    await using slow = await createIdempotency({ pool: program.pool, sweep: false, runMax: 0, lease: 1 })
    const first = await slow.begin(request)
    if (first._tag !== "First") throw new Error("The request has not begun")
    const begun = await program.inTransaction(async (tx) => {
      await first.request.complete({ status: 201, body: "created" }, { tx })
      const second = idempotency.begin(request)
      // It waits for the row that the transaction has locked.
      await waitForLock(program)
      return { second }
    })
    const second = await begun.second
    assert.deepStrictEqual(second._tag === "Replay" && second.response.status, 201)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Waits until a session waits for a lock. */
const waitForLock = async ({ pool }: PgProgram.PgProgram): Promise<void> => {
  const { rows } = await pool.query<{ waiting: number }>(`
    SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
  `)
  if (rows[0]?.waiting === 0) await waitForLock({ pool } as PgProgram.PgProgram)
}
