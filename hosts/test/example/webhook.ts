import { TestHost } from "@kinora/host-test"
import { Webhook } from "@kinora/webhook-signing"
import { expect, it } from "vitest"

it("receives a webhook at the second attempt", async () => {
  await using kinora = await TestHost.start()
  const { secret } = await kinora.webhooks.register({
    url: "https://hooks.example.com/kinora",
    types: ["generation.completed"]
  })
  await kinora.webhooks.script({ status: 503 })

  await kinora.fetch("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
  })
  await kinora.webhooks.sends(1)
  await kinora.webhooks.script({ status: 200 })
  await kinora.clock.advance("10 seconds")

  const sends = await kinora.webhooks.sends()
  expect(sends.map(({ outcome }) => outcome?.reason)).toEqual(["status_503", "ok"])
  for (const { at, body, headers } of sends) {
    const { event } = await Webhook.verify({ body, headers, secret, nowMillis: at.getTime() })
    expect(event.data).toMatchObject({ generation: { status: "completed" } })
  }
})
