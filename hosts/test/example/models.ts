import { TestHost } from "@kinora/host-test"
import { expect, it } from "vitest"

it("lists the models", async () => {
  await using kinora = await TestHost.start()
  const response = await kinora.fetch("/v1/models")
  expect(response.status).toBe(200)
})
