/** The operator API for webhooks. */
import { fieldOf, type Findings, type Walk, walk } from "./Walk.ts"

/** Registers, changes, tests and removes endpoints, with and without success. */
export const webhooks = async (findings: Findings): Promise<void> => {
  await walk(findings, { webhooks: { script: { status: 500 } } }, steps)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A permitted address. Nothing is sent to it. */
const url = "https://hooks.example.com/inbox"

const steps = async ({ ask, host, send }: Walk) => {
  const operator = { apiKey: host.adminToken }
  const account = `/admin/v1/accounts/${host.account.id}`
  const endpoints = `${account}/webhook-endpoints`
  const endpoint = `${endpoints}/${fieldOf(await send(`POST ${endpoints}`, { url }, operator), "id")}`

  for (const [request, body] of bodies(endpoints, endpoint)) {
    await send(request, body, operator)
    await send(request, { nobody: 1 }, operator)
    await send(request, "<xml/>", { ...operator, headers: { "content-type": "application/xml" } })
    await send(request, "x".repeat(1024 * 1024 + 1), operator)
  }
  await send(`PATCH ${endpoint}`, { url: "http://hooks.example.com/inbox" }, operator)
  // Five secrets can sign at a time, and an account can have five endpoints.
  for (let n = 0; n < 6; n++) {
    await send(`POST ${endpoint}/rotate`, { overlap_seconds: 60 }, operator)
    await send(`POST ${endpoints}`, { url: `${url}/${n}`, types: ["generation.failed"] }, operator)
  }

  const delivery = fieldOf(await ask(`POST ${endpoint}/test`, operator), "id")
  const resend = `POST ${account}/webhook-deliveries/${delivery}/resend`
  await ask(resend, operator)
  await host.clock.advance("10 minutes")
  await ask(resend, operator)
  const deliveries = ["/deliveries", "/deliveries?limit=1", `/deliveries?before=${delivery}`, `/deliveries/${delivery}`]
  for (const path of ["", "/sends", ...deliveries]) await ask(`GET ${endpoint}${path}`, operator)
  await ask(`GET ${endpoint}/deliveries?limit=0`, operator)
  await ask(`GET ${endpoints}`, operator)
  await send(`PATCH ${endpoint}`, { status: "disabled" }, operator)
  await ask(`POST ${endpoint}/test`, operator)
  await send(`POST ${endpoint}/resend-failed`, { since: "2026-01-01T00:00:00Z" }, operator)
  await ask(`DELETE ${endpoint}`, operator)
}

/** Valid bodies. */
const bodies = (endpoints: string, endpoint: string): ReadonlyArray<readonly [request: string, body: object]> => [
  [`POST ${endpoints}`, { url, types: ["generation.completed"] }],
  [`PATCH ${endpoint}`, { url: `${url}/2`, types: null, status: "enabled" }],
  [`POST ${endpoint}/rotate`, {}],
  [`POST ${endpoint}/resend-failed`, { since: "2026-01-01T00:00:00Z" }]
]
