/** The hotel on a Postgres, through its HTTP API. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createIdempotency, type Idempotency } from "@kinora/idempotency/promise"
import { createLimits, type Limits } from "@kinora/rate-limit/promise"
import { PgProgram } from "@kinora/testkit"
import type { FastifyInstance } from "fastify"
import type { Pool } from "pg"
import { makeApp } from "../src/app.ts"
import { type Database, openDatabase } from "../src/database.ts"

describe("the hotel", () => {
  let program: PgProgram.PgProgram
  let db: Database
  let pool: Pool
  let limits: Limits
  let idempotency: Idempotency
  let apps: ReadonlyArray<FastifyInstance>
  let urls: ReadonlyArray<string>
  beforeAll(async () => {
    program = await PgProgram.open()
    db = await openDatabase(program.url)
    pool = db.$client
    limits = await createLimits({ pool })
    idempotency = await createIdempotency({ pool })
    apps = [makeApp({ db, limits, idempotency }), makeApp({ db, limits, idempotency })]
    urls = await Promise.all(apps.map((app) => app.listen({ port: 0, host: "127.0.0.1" })))
  })
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()))
    await limits.close()
    await idempotency.close()
    await pool.end()
    await program.close()
  })

  /** Requests a booking from one of the servers. */
  const book = async (account: string, key: string, room: number, night: string, server = 0) => {
    const headers = { "x-account": account, "idempotency-key": key, "content-type": "application/json" }
    const body = JSON.stringify({ room, night })
    const response = await fetch(`${urls[server]}/bookings`, { method: "POST", headers, body })
    const replayed = response.headers.get("idempotent-replayed")
    return { status: response.status, replayed, body: await response.text(), headers: response.headers }
  }
  const count = async (query: string, values: Array<string>): Promise<number> =>
    (await pool.query(`SELECT count(*)::int AS count FROM ${query}`, values)).rows[0].count

  it("books once for a key, and replays the response, over two servers", async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, n) => book("ada", "k-1", 1, "2027-05-01", n % 2))
    )
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([201]))
    assert.strictEqual(new Set(responses.map(({ body }) => body)).size, 1)
    assert.deepInclude(JSON.parse(responses[0]!.body), { account: "ada", room: 1, night: "2027-05-01" })
    assert.strictEqual(responses.filter(({ replayed }) => replayed === "true").length, 7)
    assert.strictEqual(await count("booking WHERE account = $1", ["ada"]), 1)
    assert.strictEqual((await book("ada", "k-1", 2, "2027-05-01")).status, 422)
  })

  it("replays a refusal, and does not replay it to another account", async () => {
    assert.strictEqual((await book("grace", "k-1", 3, "2027-05-01")).status, 201)
    for (const replayed of [null, "true"]) {
      const refused = await book("joan", "k-1", 3, "2027-05-01")
      assert.deepInclude(refused, { status: 409, replayed, body: `{"error":"The room is taken"}` })
    }
  })

  it("leaves neither booking nor key if the commit fails after the response was stored", async () => {
    // A trigger that runs at the commit, after all statements of the handler.
    await pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the commit fails'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON booking
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.account = 'edsger') EXECUTE FUNCTION refuse()
    `)
    assert.strictEqual((await book("edsger", "k-1", 4, "2027-05-01")).status, 500)
    assert.strictEqual(await count("booking WHERE account = $1", ["edsger"]), 0)
    assert.strictEqual(await count("idempotency_claim WHERE scope = $1", ["edsger"]), 0)
    await pool.query("DROP TRIGGER refuse ON booking")
    assert.deepInclude(await book("edsger", "k-1", 4, "2027-05-01"), { status: 201, replayed: null })
    assert.strictEqual(await count("idempotency_claim WHERE scope = $1", ["edsger"]), 1)
  })

  it("refuses the eleventh request of an account with the standard headers, over two servers", async () => {
    const responses = []
    for (let n = 0; n < 11; n++) responses.push(await book("barbara", `k-${n}`, 5, `2027-06-${10 + n}`, n % 2))
    assert.deepStrictEqual(
      responses.map(({ status }) => status),
      [...Array.from({ length: 10 }, () => 201), 429]
    )
    const { body, headers } = responses[10]!
    assert.strictEqual(headers.get("ratelimit-policy"), `"requests";q=10;w=60`)
    const retryAfter = Number(headers.get("retry-after"))
    assert.isAtLeast(retryAfter, 1)
    // A request counts for up to a twentieth longer than the window.
    assert.isAtMost(retryAfter, 63)
    assert.strictEqual(headers.get("ratelimit"), `"requests";r=0;t=${retryAfter}`)
    assert.match(headers.get("content-type") ?? "", /^application\/problem\+json/)
    assert.deepInclude(JSON.parse(body), { status: 429, "violated-policies": ["requests"] })
    assert.strictEqual(responses[9]!.headers.get("ratelimit")?.startsWith(`"requests";r=0;`), true)
    assert.strictEqual(await count("booking WHERE account = $1", ["barbara"]), 10)
    // Another account has a limit of its own.
    assert.strictEqual((await book("niklaus", "k-1", 6, "2027-05-01")).status, 201)
  })

  it("refuses requests without an account, a key or a valid body", async () => {
    const post = (headers: Record<string, string>, body: string) =>
      fetch(`${urls[0]}/bookings`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body
      })
    const body = JSON.stringify({ room: 7, night: "2027-05-01" })
    const statuses = await Promise.all([
      post({}, body),
      post({ "x-account": "alan" }, body),
      post({ "x-account": "alan", "idempotency-key": "k-1" }, `{"room":0}`)
    ])
    assert.deepStrictEqual(statuses.map(({ status }) => status), [401, 400, 400])
    assert.strictEqual(await count("booking WHERE account = $1", ["alan"]), 0)
  })
})
