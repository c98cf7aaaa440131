/** The order in which a creating request is checked (D13): what is wrong twice is refused for what comes first. */
import { expect } from "@effect/vitest"
import type { Account } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const tooLarge = (account: Pick<Account, "fetch">) =>
  Calls.post(account, "/v1/generations", `"${"x".repeat(48 * 1024 * 1024)}"`)

/** Uses up the creations of a minute. */
const fill = async (account: Account, count: number) => {
  for (const n of Calls.numbers(count)) {
    const response = await Calls.create(account, { model: "fails", params: { prompt: `lake ${n}` } })
    if (response.status === 429) return
    expect(response.status).toBe(201)
  }
}

export const order = ({ holds, inTime }: Define): void => {
  holds("D13.credentials", async (stage) => {
    await Calls.refusalOf(await tooLarge(stage), 401, "unauthorized")
    await Calls.refusalOf(await Calls.post(stage, "/v1/generations", "{"), 401, "unauthorized")
  })

  inTime("D13.keyLimit", async (stage) => {
    const account = await stage.openAccount()
    await account.fetch("/v1/models")
    const { error } = await Calls.jsonOf<{ readonly error: Calls.Refusal }>(await tooLarge(account))
    expect([error.code, error.details["scope"]]).toEqual(["rate_limited", "key"])
  }, { http: { keyRequestsPerMinute: 1 } })

  holds("D13.size", async (stage) => {
    const account = await stage.openAccount()
    // Neither JSON nor of the schema.
    const response = await Calls.post(account, "/v1/generations", "x".repeat(48 * 1024 * 1024 + 1))
    await Calls.refusalOf(response, 413, "payload_too_large")
  })

  holds("D13.schema", async (stage) => {
    const account = await stage.openAccount()
    const headers = { "idempotency-key": "used" }
    await Calls.createJob(account, { headers })
    await Calls.refusalOf(await Calls.post(account, "/v1/generations", {}, headers), 400, "invalid_request")
    await Calls.refusalOf(await Calls.post(account, "/v1/generations", "{", headers), 400, "invalid_request")
  })

  inTime("D13.replay", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const wish = { headers: { "idempotency-key": "first" }, model: "fails" }
    await Calls.createJob(account, wish)
    for (const _ of Calls.numbers(30)) expect((await Calls.create(account, wish)).status).toBe(200)
    await fill(account, 9)
    const refused = await Calls.create(account, { params: { prompt: "one more" } })
    await Calls.refusalOf(refused, 429, "rate_limited")
    expect((await Calls.create(account, wish)).status).toBe(200)
  })

  inTime("D13.planLimit", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    await fill(account, 10)
    await Calls.refusalOf(await Calls.create(account, { model: "nobody" }), 429, "rate_limited")
    await Calls.refusalOf(await Calls.create(account, { model: "paused" }), 429, "rate_limited")
  })

  holds("D13.params", async (stage) => {
    const account = await stage.openAccount()
    const images = [{ data: "bm8gaW1hZ2U=" }]
    const params = await Calls.create(account, { params: { aspect_ratio: "7:1", images } })
    await Calls.refusalOf(params, 400, "invalid_params")
    await Calls.refusalOf(await Calls.create(account, { model: "nobody", params: { images } }), 404, "model_not_found")
    await Calls.refusalOf(await Calls.create(account, { params: { images } }), 400, "invalid_image")
  })

  holds("D13.images", async (stage) => {
    const poor = await stage.openAccount({ lots: [] })
    const images = [{ data: "bm8gaW1hZ2U=" }]
    await Calls.refusalOf(await Calls.create(poor, { params: { images } }), 400, "invalid_image")
    await Calls.refusalOf(await Calls.create(poor), 402, "insufficient_credits")
  })

  holds("D13.charge", async (stage) => {
    // As many credits as two jobs that run and 20 that wait cost.
    const account = await stage.openAccount({ credits: "starter", lots: [{ kind: "addon", credits: 22, hours: 1 }] })
    for (const n of Calls.numbers(22)) await Calls.createJob(account, { model: "slow", params: { prompt: `${n}` } })
    await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
  })
}
