/** Webhooks of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createWebhooks, EndpointNotFoundError, type Webhooks } from "../src/promise.ts"
import * as PromiseReceiver from "./PromiseReceiver.ts"

const options = { keys: ["a key of at least thirty-two bytes"], guard: { allowPrivate: true } } as const

describe("createWebhooks with a pool", () => {
  let program: PgProgram.PgProgram
  let receiver: PromiseReceiver.Receiver
  let webhooks: Webhooks
  beforeAll(async () => {
    program = await PgProgram.open()
    receiver = await PromiseReceiver.open()
    webhooks = await createWebhooks({ pool: program.pool, ...options })
  })
  afterAll(async () => {
    await webhooks.close()
    await receiver[Symbol.asyncDispose]()
    await program.close()
  })

  it("is consistent with the rows of 600 requests of which a quarter rolls back, and with what is sent", async () => {
    await webhooks.create({ account: "crowd", url: receiver.url })
    await program.request((id, tx) =>
      webhooks.publish({ account: "crowd", type: "work.done", data: id, subject: id, tx })
    )
    const { rows } = await program.pool.query(`
      SELECT count(*)::int AS count, count(*) FILTER (WHERE id IS NULL OR subject IS NULL)::int AS inconsistent
      FROM (SELECT id FROM work) AS work FULL JOIN (SELECT subject FROM webhooks_event) AS event ON subject = id
    `)
    assert.deepStrictEqual(rows, [{ count: PgProgram.requestsCommitted, inconsistent: 0 }])
    const sender = await webhooks.deliver()
    await receiver.until(PgProgram.requestsCommitted)
    await sender.close()
    const sent = receiver.received.map(({ body }) => (JSON.parse(body) as { readonly data: string }).data)
    const work = await program.pool.query<{ id: string }>("SELECT id FROM work")
    assert.sameMembers(sent, work.rows.map(({ id }) => id))
  })

  it("sends an event of a committed transaction at once after `wake`, until the signal aborts", async () => {
    const before = receiver.received.length
    await webhooks.create({ account: "ada", url: receiver.url })
    const controller = new AbortController()
    const sender = await webhooks.deliver({ pollInterval: "1 hour", signal: controller.signal })
    await program.inTransaction((tx) => webhooks.publish({ account: "ada", type: "work.done", data: null, tx }))
    await webhooks.wake()
    await receiver.until(before + 1)
    controller.abort()
    await sender.close()
    await webhooks.publish({ account: "ada", type: "work.done", data: null })
    const endpoint = (await webhooks.list({ account: "ada" }))[0]!.id
    const statuses = (await webhooks.deliveries({ account: "ada", endpoint })).map(({ status }) => status)
    assert.deepStrictEqual(statuses, ["pending", "delivered"])
  })

  it("leaves the transaction of the program usable after a refusal, and shares endpoints with other processes", async () => {
    await using byUrl = await createWebhooks({ url: program.url, sweep: false, ...options })
    const { endpoint } = await byUrl.create({ account: "eve", url: receiver.url })
    await program.inTransaction(async (tx) => {
      const error = await webhooks.remove({ account: "bob", endpoint: endpoint.id, tx })
        .catch((error: unknown) => error)
      assert.instanceOf(error, EndpointNotFoundError)
      assert.deepInclude(error, { code: "endpoint_not_found", endpoint: endpoint.id })
      await webhooks.remove({ account: "eve", endpoint: endpoint.id, tx })
    })
    assert.deepStrictEqual(await byUrl.list({ account: "eve" }), [])
  })

  it("leaves no row that has the name of a forgotten account, its URL or its data, in the transaction of the program", async () => {
    const account = "ada@example.com"
    const { endpoint: { id } } = await webhooks.create({ account, url: `${receiver.url}/of-ada` })
    const before = receiver.received.length
    await webhooks.publish({ account, type: "work.done", data: { note: "of-ada" }, subject: "of-ada" })
    const sender = await webhooks.deliver()
    await receiver.until(before + 1)
    await sender.close()
    await webhooks.publish({ account, type: "work.done", data: { note: "of-ada" } })
    const tables = ["endpoint", "secret", "event", "delivery", "send", "failing"].map((name) => `webhooks_${name}`)
    const uuid = (await program.pool.query<{ id: string }>(
      "SELECT id::text FROM webhooks_endpoint WHERE account = $1",
      [account]
    )).rows[0]!.id
    const tablesWith = async (text: string) => {
      const counts = await Promise.all(
        tables.map((table) => program.pool.query(`SELECT FROM ${table} AS one WHERE strpos(one::text, $1) > 0`, [text]))
      )
      return tables.filter((_, n) => counts[n]!.rows.length > 0)
    }
    const ofEndpoint = ["webhooks_endpoint", "webhooks_secret", "webhooks_delivery", "webhooks_send"]
    assert.deepStrictEqual(await tablesWith(uuid), ofEndpoint)
    assert.deepStrictEqual(await tablesWith(account), ["webhooks_endpoint", "webhooks_event"])
    const undone = program.inTransaction(async (tx) => {
      assert.strictEqual(await webhooks.forget({ account, limit: 1, tx }), 4)
      throw new Error("undone")
    })
    assert.match(String(await undone.catch((error: unknown) => error)), /undone/)
    assert.strictEqual((await webhooks.get({ account, endpoint: id })).id, id)
    assert.strictEqual(await program.inTransaction((tx) => webhooks.forget({ account, tx })), 4)
    for (const text of [account, uuid, "of-ada"]) assert.deepStrictEqual(await tablesWith(text), [])
  })
})
