import { expect, it } from "vitest"
import * as TestHost from "../src/TestHost.ts"
import { createdId, jobOf } from "./Requests.ts"

it("serves the same service over HTTP on a free port", async () => {
  await using kinora = await TestHost.start()
  const url = await kinora.listen()
  expect(await kinora.listen()).toBe(url)
  const headers = { authorization: `Bearer ${kinora.apiKey}`, "content-type": "application/json" }
  const created = await fetch(`${url}/v1/generations`, {
    method: "POST",
    headers,
    body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
  })
  expect(created.status).toBe(201)
  const { id } = await jobOf(created)
  expect(created.headers.get("location")).toBe(`${url}/v1/generations/${id}`)
  expect(await kinora.settled(id)).toBe("completed")

  const { output } = await jobOf(await fetch(`${url}/v1/generations/${id}?wait=60`, { headers }))
  expect(output?.url.startsWith(url)).toBe(true)
  const content = await fetch(output?.url ?? "")
  expect((await content.bytes()).length).toBe(output?.bytes)
  expect((await kinora.fetch(`/v1/generations/${id}`)).status).toBe(200)
})

it("serves several hosts at once, each on its own port", async () => {
  await using one = await TestHost.start()
  await using other = await TestHost.start()
  const urls = await Promise.all([one.listen(), other.listen()])
  expect(new Set(urls).size).toBe(2)
  const headers = { authorization: `Bearer ${one.apiKey}` }
  const id = await createdId(one)
  const statuses = urls.map(async (url) => (await fetch(`${url}/v1/generations/${id}`, { headers })).status)
  expect(await Promise.all(statuses)).toEqual([200, 401])
})

it("applies one rate limit to HTTP and in-process requests, on virtual time", async () => {
  await using kinora = await TestHost.start({ http: { keyRequestsPerMinute: 1 } })
  const url = await kinora.listen()
  const headers = { authorization: `Bearer ${kinora.apiKey}` }
  const statusOverHttp = async () => (await fetch(`${url}/v1/models`, { headers })).status
  expect(await statusOverHttp()).toBe(200)
  expect((await kinora.fetch("/v1/models")).status).toBe(429)
  await kinora.clock.advance("1 minute")
  expect(await statusOverHttp()).toBe(200)
})
