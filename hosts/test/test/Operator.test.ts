import { expect, it } from "vitest"
import type { RunningHost } from "../src/RunningHost.ts"
import * as TestHost from "../src/TestHost.ts"
import { defaultAdminToken } from "../src/TestHostOptions.ts"
import { codeOf, create } from "./Requests.ts"

/** Sends a request with the operator's token. */
const operatorOf = (kinora: RunningHost) => async (method: string, path: string, body?: unknown) => {
  const response = await kinora.fetch(`/admin/v1${path}`, {
    method,
    apiKey: kinora.adminToken,
    ...body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  })
  return { status: response.status, json: await response.json() as Readonly<Record<string, string>> }
}

it("serves the admin API", async () => {
  await using kinora = await TestHost.start()
  const operator = operatorOf(kinora)
  const { id } = (await operator("POST", "/accounts", { email: "ada@example.com" })).json
  const apiKey = (await operator("POST", `/accounts/${id}/keys`, { name: "test" })).json["key"]
  const expires = new Date(kinora.clock.now().getTime() + 3_600_000).toISOString()
  const lot = { reference: "stage", kind: "addon", credits: 8, expires_at: expires }
  expect((await operator("POST", `/accounts/${id}/lots`, lot)).status).toBe(201)

  const account = {
    fetch: (path: string | URL | Request, init = {}) => kinora.fetch(path, { apiKey, ...init })
  }
  expect((await create(account)).status).toBe(201)
  expect(await codeOf(await create(account, { prompt: "another" }))).toBe("insufficient_credits")
  await kinora.clock.advance("2 hours")
  expect((await operator("POST", `/accounts/${id}/lots`, lot)).status).toBe(200)
  expect((await operator("POST", "/ledger/verify")).json).toMatchObject({ discrepancies: [], next_cursor: null })
})

it("returns 404 below /admin without an operator's token", async () => {
  await using kinora = await TestHost.start({ adminToken: null })
  expect(kinora.adminToken).toBe(defaultAdminToken)
  expect((await operatorOf(kinora)("POST", "/ledger/verify")).status).toBe(404)
})
