import { Webhook } from "@kinora/webhook-signing"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "vitest"
import type { WebhookSend } from "../src/Controls.ts"
import * as TestHost from "../src/TestHost.ts"
import { createdId, type Job, read } from "./Requests.ts"

const url = "https://hooks.example.com/kinora"

const typesOf = (sends: ReadonlyArray<WebhookSend>) => sends.map(({ event }) => event.type)

/** Seconds since the start of the host. */
const secondsOf = (sends: ReadonlyArray<WebhookSend>) =>
  sends.map(({ at }) => (at.getTime() - Date.UTC(2030, 0, 1)) / 1000)

/** Removes the expiry of links, the only difference between a webhook and GET. */
const withoutLifetimes = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json).replaceAll(/exp=\d+&sig=[\w-]+|(?<="expires_at":")[^"]+/g, "<lifetime>"))

it("sends the events of a job, signed with the endpoint's secret", async () => {
  await using kinora = await TestHost.start()
  const { secret } = await kinora.webhooks.register({ url })
  const id = await createdId(kinora)
  await kinora.settled(id)

  const sends = await kinora.webhooks.sends()
  expect(typesOf(sends)).toEqual(["generation.started", "generation.completed"])
  for (const { at, body, event, headers, outcome, url: to } of sends) {
    const { warnings } = await Webhook.verify({ body, headers, secret, nowMillis: at.getTime() })
    expect([to, outcome, warnings]).toEqual([url, { reason: "ok", httpStatus: 200 }, []])
    expect(headers).toMatchObject({ "x-service-event": event.type, "x-service-delivery": event.id })
    await expect(Webhook.verify({ body, headers, secret: "whsec_another" })).rejects.toThrow()
  }
})

it("sends the job as GET returns it, with a link that is valid for one hour", async () => {
  await using kinora = await TestHost.start({ http: { baseUrl: "https://media.example.com" } })
  await kinora.webhooks.register({ url, types: ["generation.completed"] })
  const id = await createdId(kinora)
  await kinora.settled(id)
  const [sent] = await kinora.webhooks.sends()
  const { data } = sent!.event
  expect(withoutLifetimes(data)).toEqual({ generation: withoutLifetimes(await read(kinora, id)) })

  const { generation } = data as { readonly generation: Job }
  const link = generation.output?.url ?? ""
  expect(link).toMatch(/^https:\/\/media\.example\.com\//)
  await kinora.clock.advance("59 minutes")
  expect((await kinora.fetch(link, { apiKey: null })).status).toBe(200)
  await kinora.clock.advance("1 minute")
  expect((await kinora.fetch(link, { apiKey: null })).status).toBe(403)
})

it("retries a failed webhook after 10, 60 and 300 seconds with the same bytes", async () => {
  await using kinora = await TestHost.start({ webhooks: { script: { status: 500 } } })
  const { secret } = await kinora.webhooks.register({ url, types: ["generation.completed"] })
  await kinora.settled(await createdId(kinora))
  await kinora.clock.advance("1 day")

  const sends = await kinora.webhooks.sends()
  expect(secondsOf(sends)).toEqual([0, 10, 70, 370])
  expect(new Set(sends.map(({ body }) => new TextDecoder().decode(body))).size).toBe(1)
  for (const { at, body, headers, outcome } of sends) {
    expect(outcome).toEqual({ reason: "status_500", httpStatus: 500 })
    const { timestamp } = await Webhook.verify({ body, headers, secret, nowMillis: at.getTime() })
    expect(timestamp).toBe(at.getTime() / 1000)
  }
})

it("starts the pause at the end of a send, which may take 10 seconds", async () => {
  await using kinora = await TestHost.start({
    webhooks: {
      script: ({ at }) =>
        at.getTime() === Date.UTC(2030, 0, 1) ? { delay: "hold" } : { delay: "3 seconds", status: 204 }
    }
  })
  await kinora.webhooks.register({ url, types: ["generation.completed"] })
  await kinora.settled(await createdId(kinora))
  expect((await kinora.webhooks.sends()).map(({ outcome }) => outcome)).toEqual([null])
  await kinora.clock.advance("9999 millis")
  expect((await kinora.webhooks.sends()).map(({ outcome }) => outcome)).toEqual([null])
  await kinora.clock.advance("1 minute")
  const sends = await kinora.webhooks.sends()
  expect(secondsOf(sends)).toEqual([0, 20])
  expect(sends.map(({ outcome }) => outcome?.reason)).toEqual(["timeout", "ok"])
})

it("scripts failures, and changes the script", async () => {
  await using kinora = await TestHost.start()
  await kinora.webhooks.register({ url, types: ["generation.failed"] })
  await kinora.webhooks.script({ failure: "tls" })
  await kinora.generator.script({ outcome: "succeed", delay: "hold" })
  const id = await createdId(kinora)
  await kinora.generator.started(id)
  await kinora.generator.fail(id)
  await kinora.settled(id)
  await kinora.clock.advance("10 seconds")
  await kinora.webhooks.script({ status: 200 })
  await kinora.clock.advance("1 hour")
  const sends = await kinora.webhooks.sends()
  expect(sends.map(({ outcome }) => outcome)).toEqual([
    { reason: "tls", httpStatus: null },
    { reason: "tls", httpStatus: null },
    { reason: "ok", httpStatus: 200 }
  ])
})

it("sends events of the account's own jobs only", async () => {
  await using kinora = await TestHost.start()
  const other = await kinora.createAccount()
  await kinora.webhooks.register({ url })
  await kinora.webhooks.register({ url: `${url}/other`, account: other.id })
  await kinora.settled(await createdId(other))
  expect((await kinora.webhooks.sends()).map(({ url }) => url)).toEqual([`${url}/other`, `${url}/other`])
})

it("applies the product's rules to endpoints", async () => {
  await using kinora = await TestHost.start()
  for (const refused of ["http://hooks.example.com", "https://127.0.0.1/", "https://hooks.example.com:444/"]) {
    await expect(kinora.webhooks.register({ url: refused })).rejects.toMatchObject({
      reason: { _tag: "AddressRefused" }
    })
  }
})

it("rejects the service's own address as an endpoint", async () => {
  await using kinora = await TestHost.start({ http: { baseUrl: "https://media.example.com" } })
  for (const host of ["media.example.com", "eu.media.example.com"]) {
    await expect(kinora.webhooks.register({ url: `https://${host}/` })).rejects.toMatchObject({
      reason: { _tag: "AddressRefused" }
    })
  }
  await kinora.webhooks.register({ url: "https://hooks.example.com/" })
})

it("stops while a receiver does not respond", async () => {
  const kinora = await TestHost.start({ webhooks: { script: { delay: "hold" } } })
  await kinora.webhooks.register({ url })
  await kinora.settled(await createdId(kinora))
  expect((await kinora.webhooks.sends())[0]).toMatchObject({ url, outcome: null })
  const rejected = expect(kinora.webhooks.sends(1)).rejects.toThrow("stopped before there were 1 sends")
  await kinora.stop()
  await rejected
})

it("waits for sends in real time", async () => {
  await using kinora = await TestHost.start({ time: "real" })
  await kinora.webhooks.register({ url })
  await createdId(kinora)
  expect(typesOf(await kinora.webhooks.sends(2))).toEqual(["generation.started", "generation.completed"])
})

it("sends webhooks over the network to a receiver of the test, while time stands still", async () => {
  const arrived: Array<{ readonly path: string | undefined; readonly body: string }> = []
  await using server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    arrived.push({ path: request.url, body })
    response.writeHead(arrived.length === 1 ? 503 : 200).end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  await using kinora = await TestHost.start({ webhooks: { network: true } })
  await expect(kinora.webhooks.script({ status: 500 })).rejects.toThrow("over the network")
  await kinora.webhooks.register({ url: `http://127.0.0.1:${port}/hooks`, types: ["generation.completed"] })
  await kinora.settled(await createdId(kinora))
  await kinora.clock.advance("10 seconds")

  const sends = await kinora.webhooks.sends()
  expect(secondsOf(sends)).toEqual([0, 10])
  expect(sends.map(({ outcome }) => outcome?.reason)).toEqual(["status_503", "ok"])
  expect(arrived).toEqual(sends.map(({ body }) => ({ path: "/hooks", body: new TextDecoder().decode(body) })))
})
