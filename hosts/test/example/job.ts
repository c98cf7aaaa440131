import { TestHost } from "@kinora/host-test"
import { expect, it } from "vitest"

it("completes a job after half a minute of virtual time", async () => {
  await using kinora = await TestHost.start()
  await kinora.generator.hold()

  const response = await kinora.fetch("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
  })
  const { id } = await response.json() as { readonly id: string }

  const polled = kinora.fetch(`/v1/generations/${id}?wait=60`)
  await kinora.clock.advance("30 seconds")
  await kinora.generator.succeed(id)
  const job = await (await polled).json()
  expect(job).toMatchObject({ status: "completed", finished_at: "2030-01-01T00:00:30.000Z" })

  const content = await kinora.fetch(`/v1/generations/${id}/content`)
  expect(content.headers.get("content-type")).toBe("image/png")
  expect(await kinora.ledger.balances(kinora.account.id)).toMatchObject({ credits: 992 })
})
