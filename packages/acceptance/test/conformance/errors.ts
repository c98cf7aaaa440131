/** The envelope of errors, and what their messages say and do not say (D41, D42). */
import { expect } from "@effect/vitest"
import { type Account, type Stage, withToken } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

/** Requests that are refused at every depth of the service. */
const refused = async (stage: Stage, account: Account): Promise<ReadonlyArray<Response>> => [
  await stage.fetch("/nothing"),
  await stage.fetch("/v1/nothing"),
  await stage.fetch("/v1/models"),
  await account.fetch("/v1/generations", { method: "PUT" }),
  await account.fetch("/v1/generations/nobody"),
  await account.fetch("/v1/generations?limit=0"),
  await account.fetch("/v1/usage?from=monday"),
  await Calls.post(account, "/v1/generations", "{\"plan\":"),
  await Calls.post(account, "/v1/generations", "[]"),
  await Calls.post(account, "/v1/generations", "x".repeat(48 * 1024 * 1024 + 1)),
  await Calls.create(account, { model: "nobody" }),
  await Calls.create(account, { params: { resolution: "8k" } }),
  await Calls.image(account, { n: 2 }),
  await account.fetch("/v1/uploads/nobody", { method: "DELETE" })
]

export const errors = (define: Define): void => {
  envelope(define)
  messages(define)
  faults(define)
}

const envelope = ({ holds }: Define): void => {
  holds(
    ["errors.envelope", "envelope.fields", "envelope.code", "envelope.details", "D42.exactly", "D42.routes"],
    async (stage) => {
      for (const response of await refused(stage, await stage.openAccount())) {
        const { error } = await Calls.jsonOf<{ readonly error: Calls.Refusal }>(response.clone())
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.status).toBeLessThan(500)
        expect(error.code).toMatch(/^[a-z_]+$/)
        await Calls.refusalOf(response, response.status, error.code)
      }
    }
  )

  holds(["errors.plan", "envelope.plan"], async (stage) => {
    const account = await stage.openAccount({ studio: null, lots: [] })
    const plans = []
    for (const plan of ["studio", "credits"]) {
      const { error } = await Calls.jsonOf<{ readonly error: Calls.Refusal }>(await Calls.create(account, { plan }))
      plans.push(error.plan)
    }
    const { plan } = await Calls.refusalOf(await account.fetch("/v1/generations/nobody"), 404, "not_found")
    expect([...plans, plan]).toEqual(["studio", "credits", null])
  })
}

const messages = ({ holds }: Define): void => {
  holds("D41.secrets", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const forged = `${output.url.slice(0, -3)}abc`
    const wrongKey = `${account.key.slice(0, -1)}!`
    const texts = await Promise.all([
      stage.fetch("/v1/models", { headers: { authorization: `Bearer ${wrongKey}` } }),
      stage.fetch(`/v1/models?key=${account.key}`),
      stage.fetch(forged),
      account.fetch(`/v1/generations/${account.key}`)
    ].map(async (response) => (await response).text()))
    for (const text of texts) {
      expect(text).not.toContain(account.key.slice(4, 20))
      expect(text).not.toContain(new URL(forged).searchParams.get("sig"))
      const { error } = JSON.parse(text) as { readonly error: Calls.Refusal }
      // A sentence, for people.
      expect(error.message).toMatch(/^[A-Z].*[.!]$/s)
    }
  })

  holds("D30.given", async (stage) => {
    const account = await stage.openAccount()
    const given = ["trace-7", "x".repeat(128), "!~ \"'{}"]
    for (const id of given) {
      const headers = { "x-request-id": id }
      expect((await account.fetch("/v1/models", { headers })).headers.get("x-request-id")).toBe(id)
      expect((await stage.fetch("/nothing", { headers })).headers.get("x-request-id")).toBe(id)
    }
  })

  holds("D30.new", async (stage) => {
    const account = await stage.openAccount()
    const idOf = async (headers = {}) => (await account.fetch("/v1/models", { headers })).headers.get("x-request-id")
    const made = [await idOf(), await idOf(), await idOf({ "x-request-id": "x".repeat(129) })]
    expect(made).toEqual(made.map(() => expect.stringMatching(/^[\x20-\x7e]{1,128}$/)))
    expect(new Set(made).size).toBe(3)
    expect(await idOf({ "x-request-id": "näh" })).not.toBe("näh")
    const { id } = await Calls.completed(account)
    const content = await account.fetch(`/v1/generations/${id}/content`)
    expect(content.headers.get("x-request-id")).toMatch(/./)
    expect((await stage.fetch("/healthz")).headers.get("x-request-id")).toMatch(/./)
  })
}

const faults = ({ onPostgres }: Define): void => {
  onPostgres(["D40.internal_error", "D41.inside"], async (stage) => {
    const account = await stage.openAccount()
    await stage.sql("ALTER TABLE generation_job RENAME TO generation_elsewhere")
    const id = "gen_01q3dcbd00evhthzyyqsfhxazr"
    const response = await account.fetch(`/v1/generations/${id}`, { headers: { "x-request-id": "trace-500" } })
    expect(response.headers.get("x-request-id")).toBe("trace-500")
    const { details, message } = await Calls.refusalOf(response, 500, "internal_error")
    expect([details, message]).toEqual([{}, expect.not.stringMatching(/generation_job|relation|SELECT/i)])
    const log = await stage.stop()
    expect(log.split("\n").filter((line) => line.includes("trace-500")).join("\n")).toContain("generation_job")
  })

  onPostgres("D40.idempotency_in_progress", async (stage) => {
    const account = await stage.openAccount()
    const elsewhere = { fetch: withToken((await stage.another()).fetch, account.key) }
    const wish = { headers: { "idempotency-key": "once" } }
    // Whoever has a key is charged only after longer than another waits for it.
    await stage.sql(
      "CREATE FUNCTION wait() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(15); RETURN NULL; END' LANGUAGE plpgsql"
    )
    await stage.sql("CREATE TRIGGER wait AFTER INSERT ON ledger_transaction EXECUTE FUNCTION wait()")
    const first = Calls.create(account, wish)
    const sleepers = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while ((await stage.sql(sleepers)).length === 0) await new Promise((resolve) => setImmediate(resolve))
    const second = await Calls.create(elsewhere, wish)
    expect(Calls.retryOf(second).seconds).toBeGreaterThan(0)
    await Calls.refusalOf(second, 409, "idempotency_in_progress")
    expect((await first).status).toBe(201)
    expect((await Calls.create(account, wish)).status).toBe(200)
  })
}
