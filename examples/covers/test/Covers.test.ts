import { Kinora } from "@kinora/client"
import { type RunningHost, TestHost } from "@kinora/host-test"
import { expect, it } from "vitest"
import { orderCover } from "../src/Covers.ts"

const start = async () => {
  const host = await TestHost.start()
  const { apiKey, baseUrl, fetch } = host
  return { host, kinora: new Kinora({ apiKey, baseUrl, fetch }) }
}
const creditsOf = async (host: RunningHost.RunningHost) => (await host.ledger.balances(host.account.id)).credits

it("pays for a cover once, however often it is ordered", async () => {
  const { host, kinora } = await start()
  await using _ = host
  const before = await creditsOf(host)
  const covers = [await orderCover(kinora, 1, "Dunes"), await orderCover(kinora, 1, "Dunes")]
  expect(covers.map((cover) => "picture" in cover && cover.picture.length > 0)).toEqual([true, true])
  expect(before - await creditsOf(host)).toBe(8)
})

it("explains a cover that fails, and gets its credits back", async () => {
  const { host, kinora } = await start()
  await using _ = host
  const before = await creditsOf(host)
  await host.generator.script({ failure: { code: "content_rejected", message: "The cover shows a real person" } })
  expect(await orderCover(kinora, 2, "Tides")).toEqual({ reason: "content_rejected: The cover shows a real person" })
  expect(await creditsOf(host)).toBe(before)
})
