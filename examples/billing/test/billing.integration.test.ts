/** The shop on a Postgres, through its HTTP API. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createLedger, type Ledger } from "@kinora/ledger/promise"
import { PgProgram } from "@kinora/testkit"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Pool } from "pg"
import { makeApp } from "../src/app.ts"
import { openPool } from "../src/database.ts"

const expiresAt = "2099-01-01T00:00:00Z"

describe("the shop", () => {
  let program: PgProgram.PgProgram
  let pool: Pool
  let ledger: Ledger
  let server: Server
  let url: string
  beforeAll(async () => {
    program = await PgProgram.open()
    pool = await openPool(program.url)
    ledger = await createLedger({ pool })
    // Tests cause errors, which Express would print.
    server = makeApp(pool, ledger).set("env", "test").listen(0, "127.0.0.1")
    await once(server, "listening")
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await ledger.close()
    await pool.end()
    await program.close()
  })

  /** Sends a request of an account. Returns the status and the body of the response. */
  const send = async (account: string, method: string, path: string, json?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { "x-account": account, "content-type": "application/json" },
      ...json === undefined ? {} : { body: JSON.stringify(json) }
    })
    const text = await response.text()
    return [response.status, text === "" ? undefined : JSON.parse(text) as unknown] as const
  }
  const buy = async (account: string, credits: number) => {
    const payment = { id: `payment of ${account}`, account, credits, expiresAt }
    assert.deepStrictEqual(await send(account, "POST", "/payments", payment), [204, undefined])
  }
  const balance = (account: string) => send(account, "GET", "/balance")
  const print = (account: string, id: string, copies: number, country = "FR") =>
    send(account, "POST", "/prints", { id, copies, country })

  it("has a charge for each print and a print for each charge, if a quarter of 200 concurrent requests rolls back", async () => {
    const accounts = Array.from({ length: 10 }, (_, n) => `customer ${n}`)
    await Promise.all(accounts.map((account) => buy(account, 100)))
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, n) => print(accounts[n % 10]!, `crowd-${n}`, 3, n % 4 === 0 ? "AQ" : "FR"))
    )
    assert.deepStrictEqual(
      responses.map(([status]) => status),
      responses.map((_, n) => n % 4 === 0 ? 422 : 201)
    )
    const { rows } = await pool.query(`
      SELECT count(*)::int AS count,
        count(*) FILTER (WHERE print.id IS NULL OR booked.reference IS NULL OR shipment.print IS NULL)::int AS inconsistent
      FROM (SELECT * FROM print WHERE id LIKE 'crowd-%') AS print
      FULL JOIN (SELECT * FROM ledger_transaction WHERE kind = 'charge' AND reference LIKE 'crowd-%') AS booked
        ON print.id = booked.reference AND print.account = booked.account
      LEFT JOIN shipment ON shipment.print = print.id
    `)
    assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0 }])
    const balances = await Promise.all(accounts.map((account) => ledger.balances({ account })))
    assert.strictEqual(balances.reduce((sum, { credits }) => sum + credits, 0), 1000 - 150 * 3)
    assert.deepStrictEqual((await ledger.verify()).discrepancies, [])
  })

  it("sells what the credits pay for, and no more, to concurrent requests", async () => {
    await buy("ada", 50)
    const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => print("ada", `many-${n}`, 5)))
    assert.strictEqual(responses.filter(([status]) => status === 201).length, 10)
    assert.strictEqual(responses.filter(([status]) => status === 402).length, 20)
    assert.deepStrictEqual(await balance("ada"), [200, { credits: 0 }])
    const { rows } = await pool.query("SELECT count(*)::int AS count FROM print WHERE account = 'ada'")
    assert.deepStrictEqual(rows, [{ count: 10 }])
  })

  it("charges once if the same print is ordered ten times at once", async () => {
    await buy("grace", 50)
    const responses = await Promise.all(Array.from({ length: 10 }, () => print("grace", "same", 5)))
    assert.deepStrictEqual(responses.map(([status]) => status).toSorted((a, b) => a - b), [
      201,
      ...Array.from({ length: 9 }, () => 409)
    ])
    assert.deepStrictEqual(await balance("grace"), [200, { credits: 45 }])
  })

  it("refunds a cancelled print once, and only to its account", async () => {
    await buy("joan", 50)
    await print("joan", "cancelled", 20)
    assert.strictEqual((await send("mallory", "DELETE", "/prints/cancelled"))[0], 404)
    const responses = await Promise.all(Array.from({ length: 5 }, () => send("joan", "DELETE", "/prints/cancelled")))
    assert.deepStrictEqual(responses.map(([status]) => status).toSorted((a, b) => a - b), [204, 404, 404, 404, 404])
    assert.deepStrictEqual(await balance("joan"), [200, { credits: 50 }])
    assert.deepStrictEqual((await ledger.verify({ account: "joan" })).discrepancies, [])
  })

  it("grants a payment once", async () => {
    await buy("edsger", 50)
    await buy("edsger", 50)
    assert.deepStrictEqual(await balance("edsger"), [200, { credits: 50 }])
  })

  it("refuses requests that are not valid", async () => {
    const payment = { id: "late", account: "ada", credits: 1, expiresAt }
    const statuses = await Promise.all([
      print("ada", "", 5),
      print("ada", "half", 0.5),
      send("ada", "POST", "/prints"),
      send("ada", "POST", "/payments", { ...payment, expiresAt: "soon" }),
      send("ada", "POST", "/payments", { ...payment, expiresAt: "2001-01-01T00:00:00Z" }),
      fetch(`${url}/balance`).then(({ status }) => [status])
    ])
    assert.deepStrictEqual(statuses.map(([status]) => status), [400, 400, 400, 400, 400, 401])
  })
})
