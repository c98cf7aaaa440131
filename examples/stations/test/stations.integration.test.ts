/** The weather service on a Postgres, in two processes, through its HTTP API. */
import { afterAll, assert, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import { type ApiKeys, createApiKeys } from "@kinora/api-keys/promise"
import { PgProgram } from "@kinora/testkit"
import type { Hono } from "hono"
import { makeApp } from "../src/app.ts"
import { type Database, openDatabase } from "../src/database.ts"

describe("the weather service", () => {
  let program: PgProgram.PgProgram
  let db: Database
  let services: ReadonlyArray<ApiKeys>
  let apps: ReadonlyArray<Hono>
  beforeAll(async () => {
    program = await PgProgram.open()
    db = await openDatabase(program.url)
    const options = { pool: db.pool, prefix: "wx_", revocationWithin: "1 second" } as const
    services = [await createApiKeys(options), await createApiKeys(options)]
    apps = services.map((keys) => makeApp({ prisma: db.prisma, keys }))
  })
  afterAll(async () => {
    for (const keys of services) await keys.close()
    await db.prisma.$disconnect()
    await db.pool.end()
    await program.close()
  })
  beforeEach(() => db.pool.query("TRUNCATE station, api_keys_key"))

  /** Sends a request to one of the processes. */
  const send = async (method: string, path: string, options: { key?: string; body?: object; app?: number } = {}) => {
    const { app = 0, body, key } = options
    const response = await apps[app]!.request(path, {
      method,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      ...body === undefined ? {} : { body: JSON.stringify(body) }
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) as Record<string, unknown> }
  }
  const register = async (place: string) => {
    const { body, status } = await send("POST", "/stations", { body: { place } })
    return { status, id: body["id"], reporter: String(body["reporter"]), reader: String(body["reader"]) }
  }
  const statusOf = async (key: string, app = 0) => (await send("GET", "/temperature", { key, app })).status
  const count = async (from: string): Promise<number> =>
    (await db.pool.query(`SELECT count(*)::int AS count FROM ${from}`)).rows[0].count
  /** Stations without their two keys, and keys without their station. */
  const inconsistent = () =>
    count(`(
      SELECT FROM station FULL JOIN api_keys_key AS key ON key.owner = station.id
      GROUP BY station.id, key.owner
      HAVING station.id IS NULL OR count(key.id) <> 2
    ) AS found`)

  it("has both keys of each station and no others after 600 requests of which a quarter rolls back", async () => {
    assert.strictEqual((await register("taken")).status, 201)
    const requests = Array.from({ length: 600 }, (_, n) => n)
    const made = new Map<number, { readonly status: number; readonly reader: string }>()
    const work = async () => {
      for (let n = requests.pop(); n !== undefined; n = requests.pop()) {
        made.set(n, await register(n % 4 === 0 ? "taken" : `place-${n}`))
      }
    }
    await Promise.all(Array.from({ length: 10 }, work))
    for (const [n, { status }] of made) assert.strictEqual(status, n % 4 === 0 ? 409 : 201)
    assert.deepStrictEqual([await count("station"), await count("api_keys_key")], [451, 902])
    assert.strictEqual(await inconsistent(), 0)
    const statuses = await Promise.all([...made.values()].map(({ reader }) => statusOf(reader)))
    assert.deepStrictEqual([...made.keys()].map((n) => n % 4 === 0 ? 401 : 200), statuses)
  })

  it("registers and deletes stations of the same places at the same time", async () => {
    const work = async (_: unknown, n: number) => {
      for (let round = 0; round < 10; round++) {
        const { reporter, status } = await register(`place-${n % 3}`)
        assert.oneOf(status, [201, 409])
        if (status === 201) {
          assert.strictEqual((await send("DELETE", "/stations/current", { key: reporter })).status, 204)
        }
      }
    }
    await Promise.all(Array.from({ length: 9 }, work))
    assert.deepStrictEqual([await count("station"), await count("api_keys_key"), await inconsistent()], [0, 0, 0])
  })

  it("has neither station nor keys if the commit of the registration fails, and both if that of the deletion does", async () => {
    // Triggers that run at the commit, after all statements of the handler.
    await db.pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the commit fails'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON station
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()
    `)
    assert.strictEqual((await register("pier")).status, 500)
    assert.deepStrictEqual([await count("station"), await count("api_keys_key")], [0, 0])
    await db.pool.query(`
      DROP TRIGGER refuse ON station;
      CREATE CONSTRAINT TRIGGER refuse AFTER DELETE ON station
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()
    `)
    const { reader, reporter } = await register("pier")
    assert.strictEqual((await send("DELETE", "/stations/current", { key: reporter })).status, 500)
    assert.deepStrictEqual([await statusOf(reader), await inconsistent(), await count("station")], [200, 0, 1])
    await db.pool.query("DROP FUNCTION refuse CASCADE")
    assert.strictEqual((await send("DELETE", "/stations/current", { key: reporter })).status, 204)
    assert.deepStrictEqual([await count("station"), await count("api_keys_key")], [0, 0])
    // The other process has not cached the keys. This one rejects them when its cache has expired.
    assert.strictEqual(await statusOf(reader, 1), 401)
    await vi.waitFor(async () => assert.strictEqual(await statusOf(reader), 401), { timeout: 30_000, interval: 50 })
  })

  it("permits a key what its scope permits", async () => {
    const { id, reader, reporter } = await register("pier")
    const report = (key: string) => send("PUT", "/temperature", { key, body: { celsius: 11.5 } })
    assert.strictEqual((await report(reporter)).status, 200)
    assert.strictEqual((await report(reader)).status, 403)
    assert.strictEqual((await send("DELETE", "/stations/current", { key: reader })).status, 403)
    assert.strictEqual(await statusOf(reporter), 403)
    assert.deepStrictEqual(await send("GET", "/temperature", { key: reader }), {
      status: 200,
      body: { id, place: "pier", celsius: 11.5 }
    })
    for (const key of ["", "wx_unknown", `${reader}x`, reader.replace("wx_", "sk_")]) {
      assert.strictEqual(await statusOf(key), 401)
    }
    const other = await register("beach")
    assert.strictEqual((await send("GET", "/temperature", { key: other.reader })).body["id"], other.id)
  })

  it("accepts a former key for a day, until it is revoked", async () => {
    const { reader } = await register("pier")
    const { body, status } = await send("POST", "/keys/roll", { key: reader })
    const rolled = String(body["rolled"])
    assert.strictEqual(status, 201)
    assert.deepStrictEqual([await statusOf(reader), await statusOf(rolled), await statusOf(reader, 1)], [200, 200, 200])
    const former = await services[0]!.verify({ key: reader })
    const hours = ((former?.expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000
    assert.isTrue(hours > 23 && hours <= 24)
    assert.strictEqual((await services[0]!.verify({ key: rolled }))?.expiresAt, undefined)

    assert.strictEqual((await send("DELETE", "/keys/current", { key: reader })).status, 204)
    assert.strictEqual(await statusOf(reader), 401)
    await vi.waitFor(async () => assert.strictEqual(await statusOf(reader, 1), 401), { timeout: 30_000, interval: 50 })
    assert.deepStrictEqual([await statusOf(rolled), await statusOf(rolled, 1)], [200, 200])
    assert.strictEqual((await send("POST", "/keys/roll", { key: reader })).status, 401)
  })

  it("refuses bodies that are not valid", async () => {
    const bodies = [{}, { place: 1 }, { place: "" }, { place: "\n" }]
    for (const body of bodies) assert.strictEqual((await send("POST", "/stations", { body })).status, 400)
    const { reporter } = await register("pier")
    const celsius = [undefined, "12", 400].map((celsius) => ({ celsius }))
    for (const body of celsius) {
      assert.strictEqual((await send("PUT", "/temperature", { key: reporter, body })).status, 400)
    }
  })
})
