import { PlanTable } from "@kinora/accounts"
import { DefaultModels } from "@kinora/catalog"
import { expect, it } from "vitest"
import * as TestHost from "../src/TestHost.ts"
import { codeOf, create, createCompleted, createdId, read } from "./Requests.ts"

it("refunds a failed job once and keeps the books sound", async () => {
  await using kinora = await TestHost.start({ script: { delay: "hold" } })
  const id = await createdId(kinora)
  expect(await kinora.ledger.balances(kinora.account.id)).toMatchObject({ credits: 992 })
  await kinora.generator.fail(id, { code: "content_rejected", reason: "safety", message: "No lakes." })
  expect(await kinora.settled(id)).toBe("failed")
  expect(await read(kinora, id)).toMatchObject({
    refunded: true,
    error: { code: "content_rejected", reason: "safety", message: "No lakes." }
  })
  expect(await kinora.ledger.balances(kinora.account.id)).toMatchObject({ credits: 1_000 })
  expect(await kinora.ledger.verify()).toMatchObject({
    discrepancies: [],
    totals: { granted: 1_000, remaining: 1_000, consumed: 0 }
  })
})

it("ignores all but the first decision about a job", async () => {
  await using kinora = await TestHost.start({ script: { delay: "hold" } })
  const id = await createdId(kinora)
  await kinora.generator.fail(id)
  await kinora.generator.succeed(id)
  expect(await kinora.settled(id)).toBe("failed")
  expect((await read(kinora, id)).error).toMatchObject({ code: "generation_failed", reason: "provider" })
})

it("applies a new script to jobs that start after it is set", async () => {
  await using kinora = await TestHost.start()
  await kinora.generator.hold()
  const held = await createdId(kinora, { prompt: "held" })
  await kinora.generator.started(held)
  await kinora.generator.script({ bytes: 10_000 })
  expect((await createCompleted(kinora)).output.bytes).toBe(10_000)
  expect((await read(kinora, held)).status).toBe("processing")
})

it("hides jobs of other accounts", async () => {
  await using kinora = await TestHost.start()
  const other = await kinora.createAccount({ credits: 5 })
  const { id } = await createCompleted(kinora)
  expect((await kinora.fetch(`/v1/generations/${id}`)).status).toBe(200)
  for (const path of [`/v1/generations/${id}`, `/v1/generations/${id}/content`]) {
    const refused = await other.fetch(path)
    expect([refused.status, await codeOf(refused)]).toEqual([404, "not_found"])
  }
  const poor = await create(other)
  expect([poor.status, await codeOf(poor)]).toEqual([402, "insufficient_credits"])
  expect(await kinora.ledger.balances(other.id)).toEqual({ credits: 5, quotaUsed: {} })
})

it("creates an account with the given options", async () => {
  await using kinora = await TestHost.start({ account: { studio: null, email: "ada@example.com" } })
  expect(kinora.account.email).toBe("ada@example.com")
  const refused = await create(kinora, { plan: "studio", model: "kinora-draft" })
  expect([refused.status, await codeOf(refused)]).toEqual([402, "plan_inactive"])
  const subscriber = await kinora.createAccount({ studio: "starter", credits: 0 })
  await createdId(subscriber, { plan: "studio", model: "kinora-draft" })
  expect(await kinora.ledger.balances(subscriber.id)).toEqual({ credits: 0, quotaUsed: { image: 1 } })
  await expect(kinora.createAccount({ email: "ADA@example.com" })).rejects.toMatchObject({
    reason: { _tag: "EmailTaken" }
  })
})

it("shares no data between hosts", async () => {
  await using one = await TestHost.start()
  await using other = await TestHost.start()
  const { id } = await createCompleted(one)
  await one.clock.advance("1 hour")
  expect(other.clock.now().toISOString()).toBe("2030-01-01T00:00:00.000Z")
  expect((await other.fetch(`/v1/generations/${id}`)).status).toBe(404)
  expect((await other.fetch("/v1/models", { apiKey: one.apiKey })).status).toBe(401)
  expect(await other.ledger.balances(other.account.id)).toMatchObject({ credits: 1_000 })
})

it("runs many hosts concurrently", async () => {
  const hosts = await Promise.all(Array.from({ length: 20 }, () => TestHost.start()))
  const jobs = await Promise.all(hosts.map((kinora) => createCompleted(kinora)))
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(20)
  await Promise.all(hosts.map((kinora) => kinora.stop()))
})

it("sends the given key or none", async () => {
  await using kinora = await TestHost.start()
  const statusOf = async (...[input, init]: Parameters<typeof kinora.fetch>) => (await kinora.fetch(input, init)).status
  expect(await statusOf("/v1/models")).toBe(200)
  expect(await statusOf("/v1/models", { apiKey: null })).toBe(401)
  expect(await statusOf("/v1/models", { headers: { authorization: "Bearer nobody" } })).toBe(401)
  expect(await statusOf(new Request(`${kinora.baseUrl}/v1/models`))).toBe(200)
  expect(await statusOf(new URL("/v1/models", "https://api.example.com"))).toBe(200)
})

it("returns links on the base URL that require no key", async () => {
  await using kinora = await TestHost.start()
  expect((await createCompleted(kinora)).output.url).toMatch(/^http:\/\/kinora\.test\/v1\//)
  await using elsewhere = await TestHost.start({ http: { baseUrl: "https://api.example.com" } })
  const { output } = await createCompleted(elsewhere)
  expect(output.url).toMatch(/^https:\/\/api\.example\.com\/v1\//)
  expect((await elsewhere.fetch(output.url, { apiKey: null })).status).toBe(200)
})

it("uses the models, tiers and limits of the options", async () => {
  const models = [{ ...DefaultModels.still, id: "mine-1", driver: { name: "somewhere", options: {} } }]
  const planTable = { ...PlanTable.defaults, free: { createRpm: 1, concurrency: 1, weight: 1 } }
  await using kinora = await TestHost.start({
    models,
    planTable,
    account: { creditsPlan: null },
    http: { keyRequestsPerMinute: 7 }
  })
  expect((await createCompleted(kinora, { model: "mine-1" })).status).toBe("completed")
  const limited = await create(kinora, { model: "mine-1", prompt: "another" })
  expect([limited.status, limited.headers.get("x-ratelimit-limit")]).toEqual([429, "1"])
  expect((await kinora.fetch("/v1/models")).headers.get("x-ratelimit-limit")).toBe("7")
  await expect(TestHost.start({ models: [{ ...DefaultModels.still, price_table: [] }] })).rejects.toThrow("models[0]")
})

it("leaves jobs waiting without workers, and cancels them", async () => {
  await using kinora = await TestHost.start({ workers: 0 })
  const id = await createdId(kinora)
  const settled = kinora.settled(id)
  await kinora.clock.advance("1 minute")
  expect((await read(kinora, id)).status).toBe("queued")
  expect((await kinora.fetch(`/v1/generations/${id}/cancel`, { method: "POST" })).status).toBe(200)
  expect(await settled).toBe("cancelled")
})

it("rejects waiting for a job that does not exist", async () => {
  await using kinora = await TestHost.start()
  await expect(kinora.settled("nonsense")).rejects.toThrow("There is no job nonsense")
  await expect(kinora.settled("gen_01q3dcbd00evhthzyyqsfhxazr")).rejects.toThrow("There is no job gen_")
})

it("rejects an aborted request with the reason", async () => {
  await using kinora = await TestHost.start({ script: { delay: "hold" } })
  const id = await createdId(kinora)
  const left = new AbortController()
  const polled = kinora.fetch(`/v1/generations/${id}?wait=60`, { signal: left.signal })
  left.abort(new Error("enough"))
  await expect(polled).rejects.toThrow("enough")
  await expect(kinora.fetch("/v1/models", { signal: left.signal })).rejects.toThrow("enough")
})
