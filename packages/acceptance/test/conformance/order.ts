/** The order of the checks of a create request: a request with two problems is rejected for the first. */
import { expect } from "@effect/vitest"
import type { Account } from "../../src/conformance/Stage.ts"
import type { RawClient } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const tooLarge = (account: RawClient) => account.post("/v1/generations", `"${"x".repeat(48 * 1024 * 1024)}"`)

/** Uses up the creations of a minute. */
const fill = async (account: Account, count: number) => {
  for (const n of Calls.numbers(count)) {
    const response = await Calls.create(account, { model: "fails", params: { prompt: `lake ${n}` } })
    if (response.status === 429) return
    expect(response.status).toBe(201)
  }
}

export const order = ({ holds, inTime }: Define): void => {
  holds("order-of-checks.credentials", async (stage) => {
    await Calls.refusalOf(await tooLarge(stage), 401, "unauthorized")
    await Calls.refusalOf(await stage.post("/v1/generations", "{"), 401, "unauthorized")
  })

  inTime("order-of-checks.credentials", async (stage) => {
    const account = await stage.openAccount()
    await account.send("/v1/models")
    const error = await Calls.errorOf(await tooLarge(account))
    expect([error.code, error.details["scope"]]).toEqual(["rate_limited", "key"])
  }, { http: { keyRequestsPerMinute: 1 } })

  holds("order-of-checks.size", async (stage) => {
    const account = await stage.openAccount()
    // Neither JSON nor valid by the schema.
    const response = await account.post("/v1/generations", "x".repeat(48 * 1024 * 1024 + 1))
    await Calls.refusalOf(response, 413, "payload_too_large")
  })

  holds("order-of-checks.schema", async (stage) => {
    const account = await stage.openAccount()
    const headers = { "idempotency-key": "used" }
    await Calls.createJob(account, { headers })
    await Calls.refusalOf(await account.post("/v1/generations", {}, headers), 400, "invalid_request")
    await Calls.refusalOf(await account.post("/v1/generations", "{", headers), 400, "invalid_request")
  })

  inTime("order-of-checks.replay", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const wish = { headers: { "idempotency-key": "first" }, model: "fails" }
    await Calls.createJob(account, wish)
    for (const _ of Calls.numbers(30)) expect((await Calls.create(account, wish)).status).toBe(200)
    await fill(account, 9)
    const refused = await Calls.create(account, { params: { prompt: "one more" } })
    await Calls.refusalOf(refused, 429, "rate_limited")
    expect((await Calls.create(account, wish)).status).toBe(200)
  })

  inTime("order-of-checks.planLimit", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    await fill(account, 10)
    await Calls.refusalOf(await Calls.create(account, { model: "nobody" }), 429, "rate_limited")
    await Calls.refusalOf(await Calls.create(account, { model: "paused" }), 429, "rate_limited")
  })

  holds("order-of-checks.params", async (stage) => {
    const account = await stage.openAccount()
    const images = [{ data: "bm8gaW1hZ2U=" }]
    const params = await Calls.create(account, { params: { aspect_ratio: "7:1", images } })
    await Calls.refusalOf(params, 400, "invalid_params")
    await Calls.refusalOf(await Calls.create(account, { model: "nobody", params: { images } }), 404, "model_not_found")
    await Calls.refusalOf(await Calls.create(account, { params: { images } }), 400, "invalid_image")
  })

  holds("order-of-checks.funds", async (stage) => {
    const poor = await stage.openAccount({ lots: [] })
    const images = [{ data: "bm8gaW1hZ2U=" }]
    await Calls.refusalOf(await Calls.create(poor, { params: { images } }), 402, "insufficient_credits")
  })

  holds("order-of-checks.images", async (stage) => {
    const account = await stage.openAccount()
    const images = [{ data: "bm8gaW1hZ2U=" }]
    await Calls.refusalOf(await Calls.create(account, { params: { images } }), 400, "invalid_image")
  })

  holds("order-of-checks.charge", async (stage) => {
    // Credits for two running jobs and 20 waiting ones.
    const account = await stage.openAccount({ credits: "starter", lots: [{ kind: "addon", credits: 22, hours: 1 }] })
    for (const n of Calls.numbers(22)) await Calls.createJob(account, { model: "slow", params: { prompt: `${n}` } })
    await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
  })
}
