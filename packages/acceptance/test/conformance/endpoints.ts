/** Where webhooks can be sent, and which responses are a success. */
import { expect } from "@effect/vitest"
import * as ProcessStage from "../../src/conformance/ProcessStage.ts"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import type { Script } from "../../src/Receiver.ts"
import type { Wish } from "../../src/Receivers.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"
import * as Webhooks from "./webhooks.ts"

/** Expects that the URL is rejected with this problem, for a new endpoint and for a change. */
const expectRefused = async (stage: Stage, account: Account, url: string, problem: string) => {
  const refusal = await Calls.refusalOf(
    await Webhooks.register(stage, account, { url }),
    400,
    "invalid_webhook_url"
  )
  expect([url, refusal.details]).toEqual([url, { problem }])
}

/** The rules of production, without network. */
const guarded = { webhooks: {} } as const

/** A public address. Nothing is sent to it, because its account has no events. */
const somewhere = "https://93.184.215.14"

export const endpoints = (define: Define): void => {
  number(define)
  rules(define)
  guarding(define)
  answers(define)
  faults(define)
}

const number = ({ holds }: Define): void => {
  holds("webhooks.max", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const register = () => Webhooks.register(stage, account, { url: receiver.inbox().url })
    const answers = await Promise.all(Calls.numbers(8).map(register))
    const created = answers.filter(({ status }) => status === 201)
    expect(created).toHaveLength(5)
    for (const refused of answers.filter(({ status }) => status !== 201)) {
      await Calls.refusalOf(refused, 409, "too_many_endpoints")
    }
    const [first] = created
    const { id } = await Calls.jsonOf<Webhooks.Endpoint>(first ?? new Response("{}"))
    expect((await Webhooks.admin(stage, account, "DELETE", `/webhook-endpoints/${id}`)).status).toBe(204)
    expect((await register()).status).toBe(201)
    expect((await register()).status).toBe(409)
  })
}

const rules = ({ inTime }: Define): void => {
  inTime("address-rules.https", async (stage) => {
    const account = await stage.openAccount()
    for (const url of [`http${somewhere.slice(5)}/`, "ftp://93.184.215.14/", "ws://93.184.215.14/"]) {
      await expectRefused(stage, account, url, "scheme")
    }
    for (const url of ["", "93.184.215.14", "/inbox", "https://"]) await expectRefused(stage, account, url, "url")
    await expectRefused(stage, account, "https://me:secret@93.184.215.14/", "user_info")
  }, guarded)

  inTime("address-rules.port", async (stage) => {
    const account = await stage.openAccount()
    for (const port of [80, 444, 8080, 8444, 65_535]) {
      await expectRefused(stage, account, `${somewhere}:${port}/`, "port")
    }
    for (const port of ["", ":443", ":8443"]) {
      expect((await Webhooks.register(stage, account, { url: `${somewhere}${port}/inbox` })).status).toBe(201)
    }
  }, guarded)

  inTime("address-rules.public", async (stage) => {
    const account = await stage.openAccount()
    const hosts = [
      "localhost 127.0.0.1 127.1 2130706433 0x7f.0.0.1 0177.0.0.1 0.0.0.0 127.0.0.1.",
      "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 169.254.169.254",
      "192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255",
      "[::1] [::] [fe80::1] [fc00::1] [fd12:3456::1] [ff02::1] [2001:db8::1]",
      "[::ffff:127.0.0.1] [::ffff:a00:1] [::10.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1]",
      "[2002:7f00:1::] [2002:a00:1::1] [2001:0:a00:1::1] [fe80::5efe:a00:1]"
    ].flatMap((line) => line.split(" "))
    for (const host of hosts) await expectRefused(stage, account, `https://${host}/inbox`, "address")
  }, guarded)
}

const guarding = ({ holds, onPostgres }: Define): void => {
  holds("address-rules.allowPrivate", async (stage) => {
    const account = await stage.openAccount()
    for (const url of ["http://localhost:1/", "https://127.0.0.1:8080/", "https://[::1]/"]) {
      expect((await Webhooks.register(stage, account, { url })).status).toBe(201)
    }
    await expectRefused(stage, account, "https://me:secret@localhost/", "user_info")
    await expectRefused(stage, account, "https://nobody.invalid/", "dns")
  })

  onPostgres("address-rules.warning", async (stage) => {
    expect(await stage.printed()).toMatch(/KINORA_WEBHOOK_ALLOW_PRIVATE.*"level":"WARN"/)
  })

  onPostgres(["address-rules.send", "send-log.blockedAddress", "address-rules.ownDomain"], async (stage) => {
    const { first, second, sql } = await stage.production()
    const account = await first.openAccount()
    await using receiver = await first.receive()
    // The rules are those of the registration. The address changes afterwards, as it can when a name resolves to another one.
    const registered = `${somewhere}/inbox-with-another-address`
    const endpoint = await Webhooks.registered(first, account, registered)
    await sql(`UPDATE webhooks_endpoint SET url = '${receiver.inbox().url}' WHERE url = '${registered}'`)

    const delivery = await Webhooks.test(second, account, endpoint)
    const [send] = await Webhooks.sendsOnce(first, account, endpoint, (sends) => sends.length > 0)
    expect(send).toMatchObject({ delivery_id: delivery.id, http_status: null, reason: "blocked_address" })
    expect(receiver.connections()).toBe(0)
    await expectRefused(first, account, "https://localhost:8443/", "address")
    for (
      const host of [
        ProcessStage.ownDomain,
        `api.${ProcessStage.ownDomain}`,
        `${ProcessStage.ownDomain.toUpperCase()}.`
      ]
    ) {
      await expectRefused(first, account, `https://${host}/`, "own_domain")
    }
  })
}

/** Log entry of a test event to which the endpoint responds in this way. */
const outcomeOf = async (stage: Stage, account: Account, script: Script, wish?: Wish): Promise<Webhooks.Send> => {
  await using receiver = await stage.receive(wish)
  const { endpoint } = await Webhooks.listen(stage, account, receiver, { script })
  return await sendTo(stage, account, endpoint)
}

/** First log entry after a test event. */
const sendTo = async (stage: Stage, account: Account, endpoint: Webhooks.Endpoint): Promise<Webhooks.Send> => {
  const { id } = await Webhooks.test(stage, account, endpoint)
  const [send] = await Webhooks.sendsOnce(stage, account, endpoint, (sends) => sends.length > 0)
  expect(send).toMatchObject({ delivery_id: id, type: "webhook.test", attempt: 1 })
  const [delivery] = await Webhooks.deliveries(stage, account, endpoint)
  const isGood = send?.reason === "ok"
  expect([delivery?.status, delivery?.failed_sends]).toEqual(isGood ? ["delivered", 0] : ["pending", 1])
  await Webhooks.admin(stage, account, "DELETE", `/webhook-endpoints/${endpoint.id}`)
  return send ?? Promise.reject(new Error("Nothing was sent"))
}

const answers = ({ holds, onServers }: Define): void => {
  holds(["delivery.answer", "send-log.ok"], async (stage) => {
    const account = await stage.openAccount()
    for (const status of [200, 201, 202, 204, 206, 299]) {
      expect(await outcomeOf(stage, account, () => ({ status }))).toMatchObject({ http_status: status, reason: "ok" })
    }
  })

  holds(["delivery.failed", "send-log.status"], async (stage) => {
    const account = await stage.openAccount()
    for (const status of [400, 401, 404, 410, 418, 429, 500, 503, 599]) {
      const send = await outcomeOf(stage, account, () => ({ status, headers: { "retry-after": "1" } }))
      expect(send).toMatchObject({ http_status: status, reason: `status_${status}` })
    }
  })

  holds(["delivery.redirects", "send-log.redirect"], async (stage) => {
    const account = await stage.openAccount()
    await using elsewhere = await stage.receive()
    const location = elsewhere.inbox().url
    for (const status of [301, 302, 303, 307, 308]) {
      const send = await outcomeOf(stage, account, () => ({ status, headers: { location } }))
      expect(send).toMatchObject({ http_status: status, reason: "redirect" })
    }
    expect(elsewhere.connections()).toBe(0)
  })

  holds("delivery.limit", async (stage) => {
    const account = await stage.openAccount()
    // One byte too many has been received; the announced ones after it never arrive.
    const large = { status: 200, headers: { "content-length": "1000000" }, body: new Uint8Array(64 * 1024 + 1) }
    const send = await outcomeOf(stage, account, () => large)
    expect([send.http_status, send.reason]).toEqual([200, "ok"])

    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, { script: () => "endless" })
    expect((await sendTo(stage, account, endpoint)).reason).toBe("ok")
    const [arrival] = await inbox.until(1)
    // The body has no end, but the sender stops reading.
    await arrival?.ended
  })

  onServers(["send-log.timeout", "delivery.answer"], async (stage) => {
    const account = await stage.openAccount()
    const [late, never, justInTime] = await Promise.all([
      outcomeOf(stage, account, () => ({ status: 200, afterMillis: 11_000 })),
      outcomeOf(stage, account, () => "hang"),
      outcomeOf(stage, account, () => ({ status: 200, afterMillis: 6_000 }))
    ])
    // The one after 11 seconds came too late, so the limit is between 10 and 11 seconds.
    for (const send of [late, never]) {
      expect(send).toMatchObject({ http_status: null, reason: "timeout" })
      expect(send.duration_ms).toBeGreaterThanOrEqual(9_990)
    }
    expect(justInTime.reason).toBe("ok")
  })
}

const faults = ({ holds, onPostgres }: Define): void => {
  holds("send-log.connect", async (stage) => {
    const account = await stage.openAccount()
    const receiver = await stage.receive()
    const { url } = receiver.inbox()
    await receiver.close()
    const send = await sendTo(stage, account, await Webhooks.registered(stage, account, url))
    expect(send).toMatchObject({ http_status: null, reason: "connect" })
  })

  holds("send-log.tls", async (stage) => {
    const account = await stage.openAccount()
    for (const certificate of ["of another authority", "of another name", "expired"] as const) {
      const send = await outcomeOf(stage, account, () => ({ status: 200 }), { certificate })
      expect([certificate, send]).toMatchObject([certificate, { http_status: null, reason: "tls" }])
    }
  })

  holds("send-log.protocol", async (stage) => {
    const account = await stage.openAccount()
    expect(await outcomeOf(stage, account, () => "nonsense")).toMatchObject({ http_status: null, reason: "protocol" })
  })

  onPostgres("send-log.dns", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint } = await Webhooks.listen(stage, account, receiver)
    // The name had an address when the endpoint was registered.
    await stage.sql(`UPDATE webhooks_endpoint SET url = 'https://nobody.invalid/inbox' WHERE url = '${endpoint.url}'`)
    const send = await sendTo(stage, account, endpoint)
    expect(send).toMatchObject({ http_status: null, reason: "dns" })
  })

  holds(["send-log.disabled", "endpoints.disabled"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, { script: () => ({ status: 500 }) })
    const delivery = await Webhooks.test(stage, account, endpoint)
    await Webhooks.deliveryOnce(stage, account, delivery, ({ failed_sends }) => failed_sends === 1)
    await Webhooks.change(stage, account, endpoint, { status: "disabled" })
    const refused = Webhooks.admin(stage, account, "POST", `/webhook-endpoints/${endpoint.id}/test`)
    await Calls.refusalOf(await refused, 409, "endpoint_disabled")
    await Calls.ended(account)
    await stage.elapse("10 seconds")
    await Webhooks.deliveryOnce(stage, account, delivery, ({ status }) => status === "failed")
    const [send] = await Webhooks.sends(stage, account, endpoint)
    expect(send).toMatchObject({ delivery_id: delivery.id, http_status: null, reason: "disabled" })
    expect([inbox.arrivals.length, (await Webhooks.deliveries(stage, account, endpoint)).length]).toEqual([1, 1])
  })
}
