/** Reports, and the operator API. */
import { checkouts } from "./checkouts.ts"
import { ofOperators } from "./everywhere.ts"
import { members } from "./members.ts"
import { fieldOf, type Findings, type Walk, walk } from "./Walk.ts"

/** Reads models, the account, usage and health. */
export const reports = async (findings: Findings): Promise<void> => {
  await walk(findings, {}, async ({ ask }) => {
    await ask("GET /v1/models")
    await ask("GET /v1/models/kinora-still")
    await ask("GET /v1/account")
    await ask("GET /v1/usage?from=monday")
    await ask("GET /healthz")
    await ask("GET /readyz")
    await ask("GET /metrics")
    await ask("GET /openapi.json")
    await ask("GET /docs")
  })
  await walk(
    findings,
    { account: { studio: null, creditsPlan: null, credits: 0 } },
    ({ ask }) => ask("GET /v1/account")
  )
  await walk(findings, { http: { metrics: false } }, ({ ask }) => ask("GET /metrics"))
}

/** Sends every operator request, with and without success. */
export const operators = async (findings: Findings): Promise<void> => {
  await walk(findings, {}, accounts)
  await walk(findings, {}, badBodies)
  await walk(findings, {}, members)
  await walk(findings, {}, roles)
  await walk(findings, {}, tooManyOperators)
  await checkouts(findings)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Valid bodies, by the path below an account. */
const bodies = (host: Walk["host"]) => {
  const end = new Date(host.clock.now().getTime() + 3_600_000).toISOString()
  return {
    "POST /keys": { name: "another" },
    "PATCH ": { email: "grace@example.com" },
    "PUT /plans/studio": { tier: "pro", period_end: end },
    "PUT /plans/credits": { tier: "business", period_end: end, auto_renew: true },
    "POST /lots": { reference: "gift", kind: "addon", credits: 10, expires_at: end },
    "POST /deposits": { reference: "invoice", usd_cents: 2_900 },
    "PUT /plans/studio/subscription": { tier: "pro" },
    "PUT /plans/credits/subscription": { tier: "business" },
    "POST /debits": { reference: "invoice", usd_cents: 10 },
    "POST /wallet/checkouts": {
      amount_usd_cents: 2_000,
      success_url: "https://shop.test/a",
      cancel_url: "https://shop.test/b"
    }
  }
}

const below = (operation: string, id: string) => operation.replace(" ", ` /admin/v1/accounts/${id}`)

const accounts = async ({ ask, host, send }: Walk) => {
  const operator = { apiKey: host.adminToken }
  const email = { email: "ada@example.com" }
  const id = fieldOf(await send("POST /admin/v1/accounts", email, operator), "id")
  await send("POST /admin/v1/accounts", email, operator)
  for (const [operation, body] of Object.entries(bodies(host))) {
    await send(below(operation, id), body, operator)
    await send(below(operation, id), body, operator)
    await send(below(operation, "nobody"), body, operator)
  }
  const lot = fieldOf(await send(below("POST /lots", id), bodies(host)["POST /lots"], operator), "id")
  for (const [account, revoked] of [[id, lot], [id, "nothing"], ["nobody", lot]]) {
    await ask(below(`POST /lots/${revoked}/revoke`, account ?? ""), operator)
  }
  await send(below("POST /lots", id), { ...bodies(host)["POST /lots"], credits: 11 }, operator)
  await send(below("POST /deposits", id), { reference: "invoice", usd_cents: 2_901 }, operator)
  await send(below("POST /debits", id), { reference: "invoice", usd_cents: 11 }, operator)
  await send(below("POST /debits", id), { reference: "all", usd_cents: 1_000_000_000 }, operator)
  await plans({ ask, send }, operator, id)
  await ask(below("GET /keys", id), operator)
  const { id: keyId } = JSON.parse((await send(below("POST /keys", id), { name: "x" }, operator)).text)
  const roll = below(`POST /keys/${keyId}/roll`, id)
  const change = below(`PATCH /keys/${keyId}`, id)
  for (const limit of [5, null]) await send(change, { budget: { jobs_per_day: limit } }, operator)
  await send(roll, { overlap_seconds: 0 }, operator)
  await send(change, { budget: {} }, operator)
  await send(roll, {}, operator)
  await ask(below(`DELETE /keys/${keyId}`, id), operator)
  for (const operation of ["POST /suspend", "POST /resume", "DELETE /plans/studio", "DELETE /plans/credits", "GET "]) {
    await ask(below(operation, id), operator)
  }
  for (let n = 0; n < 120; n++) await send(below("POST /keys", id), { name: `${n}` }, operator)
  await send("POST /admin/v1/accounts", email, operator)
  await send(below("PATCH ", id), email, operator)
  await ask("GET /admin/v1/accounts?limit=1", operator)
  await ask("GET /admin/v1/accounts?limit=0", operator)
  for (const operation of ["GET /balances", "GET /movements", "GET /transactions", "GET /generations"]) {
    await ask(below(operation, id), operator)
    await ask(below(operation, "nobody"), operator)
  }
  await ask(below("GET /movements?limit=0", id), operator)
  await ask(below("GET /transactions?limit=0", id), operator)
  await ask(below("GET /generations?limit=0", id), operator)
  await jobs({ ask, host, send }, operator)
  await deleted({ ask, host, send }, operator)
  for (const path of ["workers", "queue", "queue/lanes"]) await ask(`GET /admin/v1/${path}`, operator)
  await ask("GET /admin/v1/workers?limit=0", operator)
  for (const path of ["models", "queue"]) {
    for (const query of ["limit=1", "limit=0"]) await ask(`GET /admin/v1/${path}?${query}`, operator)
  }
  await ask("GET /admin/v1/models", operator)
  const [worker] = JSON.parse((await send("GET /admin/v1/workers", undefined, operator)).text).data
  for (const id of [worker.id, "nobody"]) {
    await ask(`POST /admin/v1/workers/${id}/drain`, operator)
    await ask(`POST /admin/v1/workers/${id}/resume`, operator)
  }
  for (const model of ["kinora-still", "nobody"]) {
    for (const action of ["pause", "resume"]) await ask(`POST /admin/v1/models/${model}/${action}`, operator)
  }
  await ask("GET /admin/v1/queue/lanes?limit=0", operator)
  await ask("GET /admin/v1/queue/lanes?account=nobody", operator)
  await ask("GET /admin/v1/ledger/trial-balance", operator)
  await ask("POST /admin/v1/ledger/verify?limit=1", operator)
  await ask("POST /admin/v1/ledger/verify?limit=0", operator)
  await ask("POST /admin/v1/ledger/verify?account=nobody", operator)
  await ask("GET /admin/v1/openapi.json")
}

/** Sends every change to an account that is deleted, before and after its data is erased. */
const deleted = async (
  { ask, host, send }: Pick<Walk, "ask" | "host" | "send">,
  operator: { readonly apiKey: string }
) => {
  const id = fieldOf(await send("POST /admin/v1/accounts", { email: "gone@example.com" }, operator), "id")
  const keyId = fieldOf(await send(below("POST /keys", id), { name: "x" }, operator), "id")
  for (const account of [id, "nobody"]) await ask(below("DELETE ", account), operator)
  for (const [operation, body] of Object.entries(bodies(host))) await send(below(operation, id), body, operator)
  await send(below(`POST /keys/${keyId}/roll`, id), {}, operator)
  const changes = ["POST /suspend", "POST /resume", "DELETE /plans/studio", "DELETE /plans/credits"]
  const renewals = ["studio", "credits"].map((group) => `DELETE /plans/${group}/subscription`)
  for (const operation of [...changes, ...renewals]) await ask(below(operation, id), operator)
  for (const account of [id, "nobody"]) await ask(below("POST /restore", account), operator)
  await ask(below("DELETE ", id), operator)
  await host.clock.advance("33 days")
  await ask(below("POST /restore", id), operator)
}

const plans = async (
  { ask, send }: Pick<Walk, "ask" | "send">,
  operator: { readonly apiKey: string },
  id: string
) => {
  for (const [group, tier] of [["studio", "scale"], ["credits", "business"]]) {
    await ask(below(`DELETE /plans/${group}`, id), operator)
    await ask(below(`DELETE /plans/${group}/subscription`, id), operator)
    await send(below(`PUT /plans/${group}/subscription`, id), { tier }, operator)
    await send(below(`PUT /plans/${group}/subscription`, id), { tier: "starter" }, operator)
    await ask(below(`DELETE /plans/${group}/subscription`, id), operator)
    await ask(below(`DELETE /plans/${group}/subscription`, "nobody"), operator)
  }
}

const jobs = async (
  { ask, host, send }: Pick<Walk, "ask" | "host" | "send">,
  operator: { readonly apiKey: string }
) => {
  const order = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
  const job = fieldOf(await send("POST /v1/generations", order), "id")
  await ask(below("GET /generations", host.account.id), operator)
  await ask("GET /admin/v1/generations?model=kinora-still", operator)
  await ask("GET /admin/v1/generations?limit=0", operator)
  await ask("GET /admin/v1/generations?account=nobody", operator)
  for (const id of [job, "gen_nobody"]) {
    await ask(`GET /admin/v1/generations/${id}`, operator)
    await ask(`POST /admin/v1/generations/${id}/cancel`, operator)
  }
  const other = fieldOf(await send("POST /v1/generations", { ...order, params: { prompt: "a tree" } }), "id")
  for (const id of [other, job, "gen_nobody"]) {
    await ask(`POST /admin/v1/generations/${id}/requeue`, operator)
    await ask(`POST /admin/v1/generations/${id}/fail`, operator)
  }
  const ended = fieldOf(await send("POST /v1/generations", { ...order, params: { prompt: "a sea" } }), "id")
  await ask(`GET /v1/generations/${ended}?wait=60`)
  await ask(`POST /admin/v1/generations/${ended}/cancel`, operator)
}

/** Operators, the audit log, and every operation with a token whose role permits only reads. */
const roles = async (walk: Walk) => {
  const { ask, host, send } = walk
  const owner = { apiKey: host.adminToken }
  const path = "POST /admin/v1/operators"
  const created = await send(path, { name: "Ada", role: "auditor" }, owner)
  const id = fieldOf(created, "id")
  const auditor = { apiKey: fieldOf(created, "token") }
  for (const operation of ofOperators) await ask(operation, auditor)
  for (const path of ["operators", "configuration", "storage"]) await ask(`GET /admin/v1/${path}`, auditor)
  await ask("GET /admin/v1/audit?limit=1", auditor)
  await ask("GET /admin/v1/audit?limit=0", auditor)
  await send(path, { name: "", role: "root" }, owner)
  await send(path, "<xml/>", { ...owner, headers: { "content-type": "application/xml" } })
  await send(path, "x".repeat(1024 * 1024 + 1), owner)
  const rotate = `${path}/${id}/rotate`
  await send(rotate, { overlap_seconds: 60 }, owner)
  await send(rotate, { overlap_seconds: -1 }, owner)
  await send(`${path}/opr_nobody/rotate`, {}, owner)
  await send(rotate, "<xml/>", { ...owner, headers: { "content-type": "application/xml" } })
  await send(rotate, "x".repeat(1024 * 1024 + 1), owner)
  await sessions(walk, `/admin/v1/operators/${id}`)
  await signInLinks(walk, `${path}/${id}/sign-in-links`)
  for (const operator of [id, "opr_nobody"]) await ask(`DELETE /admin/v1/operators/${operator}`, owner)
  await send(rotate, {}, owner)
}

/** A session of an operator, which ends, and the end of all others. */
const sessions = async ({ ask, host, send }: Walk, path: string) => {
  const owner = { apiKey: host.adminToken }
  const [, code] = fieldOf(await send(`POST ${path}/sign-in-links`, {}, owner), "url").split("#code=")
  await ask("POST /console/v1/session", {
    apiKey: null,
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ code })
  })
  const { text } = await ask(`GET ${path}/sessions`, owner)
  const [{ id }] = JSON.parse(text).data
  await ask(`DELETE ${path}/sessions/${id}`, owner)
  await ask(`DELETE ${path}/sessions`, owner)
}

/** More links than can be valid at a time, for an operator and for an account. */
const signInLinks = async ({ host, send }: Walk, ofOperator: string) => {
  const owner = { apiKey: host.adminToken }
  const ofAccount = `POST /admin/v1/accounts/${host.account.id}/sign-in-links`
  for (let n = 0; n < 21; n++) {
    await send(ofOperator, {}, owner)
    await send(ofAccount, { role: "member" }, owner)
  }
  await send(ofAccount, "<xml/>", { ...owner, headers: { "content-type": "application/xml" } })
  await send(ofAccount, "x".repeat(1024 * 1024 + 1), owner)
}

const tooManyOperators = async ({ host, send }: Walk) => {
  const owner = { apiKey: host.adminToken }
  for (let n = 0; n < 101; n++) await send("POST /admin/v1/operators", { name: `${n}`, role: "auditor" }, owner)
}

const badBodies = async ({ host, send }: Walk) => {
  const operator = { apiKey: host.adminToken }
  const paths = Object.keys(bodies(host)).map((operation) => below(operation, host.account.id))
  const keys = ["POST /keys/nobody/roll", "PATCH /keys/nobody"].map((operation) => below(operation, host.account.id))
  for (const request of ["POST /admin/v1/accounts", ...keys, ...paths]) {
    await send(request, {}, operator)
    await send(request, "<xml/>", { ...operator, headers: { "content-type": "application/xml" } })
    await send(request, "x".repeat(1024 * 1024 + 1), operator)
  }
}
