import { TestHost } from "@kinora/host-test"

const kinora = await TestHost.start()
await kinora.generator.hold()

const response = await kinora.fetch("/v1/generations", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
})
const { id } = await response.json() as { readonly id: string }

await kinora.clock.advance("30 seconds")
await kinora.generator.succeed(id)
console.log(response.status, await kinora.settled(id), kinora.clock.now().toISOString())
console.log((await kinora.ledger.balances(kinora.account.id)).credits)
await kinora.stop()
// 201 completed 2030-01-01T00:00:30.000Z
// 992
