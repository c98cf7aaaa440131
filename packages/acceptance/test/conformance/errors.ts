/** The body of errors and their messages. */
import { expect, vi } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

/** Requests that are rejected at each level of the service. */
const refused = async (stage: Stage, account: Account): Promise<ReadonlyArray<Response>> => [
  await stage.send("/nothing"),
  await stage.send("/v1/nothing"),
  await stage.send("/v1/models"),
  await account.send("/v1/generations", { method: "PUT" }),
  await account.send("/v1/generations/nobody"),
  await account.send("/v1/generations?limit=0"),
  await account.send("/v1/usage?from=monday"),
  await account.post("/v1/generations", "{\"plan\":"),
  await account.post("/v1/generations", "[]"),
  await account.post("/v1/generations", "x".repeat(48 * 1024 * 1024 + 1)),
  await Calls.create(account, { model: "nobody" }),
  await Calls.create(account, { params: { resolution: "8k" } }),
  await Calls.image(account, { n: 2 }),
  await account.send("/v1/uploads/nobody", { method: "DELETE" })
]

export const errors = (define: Define): void => {
  envelope(define)
  messages(define)
  faults(define)
}

const envelope = ({ holds }: Define): void => {
  holds(
    ["errors.envelope", "errors.code", "errors.details"],
    async (stage) => {
      for (const response of await refused(stage, await stage.openAccount())) {
        const error = await Calls.errorOf(response.clone())
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.status).toBeLessThan(500)
        expect(error.code).toMatch(/^[a-z_]+$/)
        await Calls.refusalOf(response, response.status, error.code)
      }
    }
  )

  holds("errors.plan", async (stage) => {
    const account = await stage.openAccount({ studio: null, lots: [] })
    const plans = []
    for (const plan of ["studio", "credits"]) {
      const error = await Calls.errorOf(await Calls.create(account, { plan }))
      plans.push(error.plan)
    }
    const { plan } = await Calls.refusalOf(await account.send("/v1/generations/nobody"), 404, "not_found")
    expect([...plans, plan]).toEqual(["studio", "credits", null])
  })
}

const messages = ({ holds }: Define): void => {
  holds("errors.secrets", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const forged = `${output.url.slice(0, -3)}abc`
    const wrongKey = `${account.key.slice(0, -1)}!`
    const texts = await Promise.all([
      stage.send("/v1/models", { headers: { authorization: `Bearer ${wrongKey}` } }),
      stage.send(`/v1/models?key=${account.key}`),
      stage.send(forged),
      account.send(`/v1/generations/${account.key}`)
    ].map(async (response) => (await response).text()))
    for (const text of texts) {
      expect(text).not.toContain(account.key.slice(4, 20))
      expect(text).not.toContain(new URL(forged).searchParams.get("sig"))
      const { error } = JSON.parse(text) as { readonly error: Calls.Refusal }
      // A sentence for people.
      expect(error.message).toMatch(/^[A-Z].*[.!]$/s)
    }
  })

  holds("conventions.requestId", async (stage) => {
    const account = await stage.openAccount()
    const given = ["trace-7", "x".repeat(128), "!~ \"'{}"]
    for (const id of given) {
      const headers = { "x-request-id": id }
      expect((await account.send("/v1/models", { headers })).headers.get("x-request-id")).toBe(id)
      expect((await stage.send("/nothing", { headers })).headers.get("x-request-id")).toBe(id)
    }
  })

  holds("conventions.newRequestId", async (stage) => {
    const account = await stage.openAccount()
    const idOf = async (headers = {}) => (await account.send("/v1/models", { headers })).headers.get("x-request-id")
    const made = [await idOf(), await idOf(), await idOf({ "x-request-id": "x".repeat(129) })]
    expect(made).toEqual(made.map(() => expect.stringMatching(/^[\x20-\x7e]{1,128}$/)))
    expect(new Set(made).size).toBe(3)
    expect(await idOf({ "x-request-id": "näh" })).not.toBe("näh")
    const { id } = await Calls.completed(account)
    const content = await account.send(`/v1/generations/${id}/content`)
    expect(content.headers.get("x-request-id")).toMatch(/./)
    expect((await stage.send("/healthz")).headers.get("x-request-id")).toMatch(/./)
  })
}

const faults = ({ onPostgres }: Define): void => {
  onPostgres(["codes.internal_error", "errors.internal"], async (stage) => {
    const { first, printed, sql } = await stage.production()
    const account = await first.openAccount()
    await sql("ALTER TABLE generation_image RENAME TO generation_image_elsewhere")
    const response = await account.send("/v1/uploads/upl_01q3dcbd00evhthzyyqsfhxazr", {
      method: "DELETE",
      headers: { "x-request-id": "trace-500" }
    })
    await sql("ALTER TABLE generation_image_elsewhere RENAME TO generation_image")
    expect(response.headers.get("x-request-id")).toBe("trace-500")
    const { details, message } = await Calls.refusalOf(response, 500, "internal_error")
    expect([details, message]).toEqual([{}, expect.not.stringMatching(/generation_image|relation|SELECT/i)])
    await vi.waitUntil(async () => {
      const lines = (await printed()).split("\n").filter((line) => line.includes("trace-500"))
      return lines.join("\n").includes("generation_image")
    }, { timeout: 60_000, interval: 100 })
  })

  onPostgres("codes.idempotency_in_progress", async (stage) => {
    const { first, second, sql } = await stage.production()
    const account = await first.openAccount()
    const elsewhere = second.withToken(account.key)
    const wish = { headers: { "idempotency-key": "once" }, model: "dear" }
    // The charge of this job does not end before the table is empty. No other case charges as much.
    await sql("CREATE TABLE held AS SELECT 1 AS charge")
    await sql(`
      CREATE FUNCTION hold() RETURNS trigger AS $$
      BEGIN WHILE EXISTS (SELECT FROM held) LOOP PERFORM pg_sleep(0.05); END LOOP; RETURN NULL; END
      $$ LANGUAGE plpgsql
    `)
    await sql(`
      CREATE TRIGGER hold AFTER INSERT ON ledger_transaction FOR EACH ROW
      WHEN (NEW.kind = 'charge' AND NEW.amount = 10) EXECUTE FUNCTION hold()
    `)
    const created = Calls.create(account, wish)
    const sleepers = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    await vi.waitUntil(async () => (await sql(sleepers)).length > 0, { timeout: 60_000, interval: 100 })
    const repeated = await Calls.create(elsewhere, wish)
    await sql("DELETE FROM held")
    expect(Calls.retryOf(repeated).seconds).toBeGreaterThan(0)
    await Calls.refusalOf(repeated, 409, "idempotency_in_progress")
    expect((await created).status).toBe(201)
    expect((await Calls.create(account, wish)).status).toBe(200)
  })
}
