/** Signatures of webhooks and their secrets. */
import { expect } from "@effect/vitest"
import { createHmac } from "node:crypto"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import type { Arrival, Receiver } from "../../src/Receiver.ts"
import * as Verification from "../../src/Verification.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"
import * as Webhooks from "./webhooks.ts"

const hmacOf = (secret: string, stamp: string, body: Uint8Array): string =>
  createHmac("sha256", secret).update(`${stamp}.`).update(body).digest("hex")

/** Parts of `X-Service-Signature`. */
const partsOf = (arrival: Arrival) => {
  const header = arrival.headers.get("x-service-signature") ?? ""
  const [stamp = "", ...signatures] = header.split(",").map((part) => part.replace(/^\w+=/, ""))
  return { header, stamp, signatures }
}

/** A received webhook with the secret to verify it. */
const webhookOf = (arrival: Arrival, secret: string): Verification.Webhook => {
  const { header, stamp } = partsOf(arrival)
  return { body: arrival.body, header, secret, at: new Date(Number(stamp) * 1_000) }
}

/** Sends a webhook to a new endpoint. */
const deliver = async (stage: Stage, account: Account, receiver: Receiver) => {
  const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver)
  await Webhooks.test(stage, account, endpoint)
  const [arrival] = await inbox.until(1)
  if (arrival === undefined) throw new Error("Nothing arrived")
  return { arrival, endpoint, inbox, webhook: webhookOf(arrival, endpoint.secret) }
}

/** Expects that both verifiers accept it, or that both reject it. */
const expectVerdict = async (webhook: Verification.Webhook, isGood: boolean, what: string) => {
  const [stripe, ours] = [Verification.byStripe(webhook), await Verification.byUs(webhook)]
  expect([stripe === null, ours === null], `${what}: ${stripe}; ${ours}`).toEqual([isGood, isGood])
}

export const signatures = (define: Define): void => {
  making(define)
  receiving(define)
  secrets(define)
  rotating(define)
}

const making = ({ holds }: Define): void => {
  holds(["signature.v1", "signature.prefix", "signature.whole", "signature.only"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const expectMeanwhile = Calls.startSpan(stage)
    const { arrival, endpoint: { secret } } = await deliver(stage, account, receiver)
    const { signatures, stamp } = partsOf(arrival)
    // 256 bits.
    expect(secret).toMatch(/^whsec_[\w+/=-]{43,64}$/)
    expect(signatures).toEqual([hmacOf(secret, stamp, arrival.body)])
    expect(signatures).not.toEqual([hmacOf(secret.slice("whsec_".length), stamp, arrival.body)])
    expectMeanwhile(Number(stamp) * 1_000)
  })

  holds("signature.only", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { arrival, webhook } = await deliver(stage, account, receiver)
    for (const name of ["authorization", "cookie", "x-api-key"]) expect(arrival.headers.get(name)).toBeNull()
    await expectVerdict(webhook, true, "as it came")
    await expectVerdict({ ...webhook, header: null }, false, "without a signature")
  })
}

const receiving = ({ holds }: Define): void => {
  holds("signature.raw", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { arrival, webhook } = await deliver(stage, account, receiver)
    const encode = (text: string) => new TextEncoder().encode(text)
    const text = new TextDecoder().decode(arrival.body)
    const { header, stamp } = partsOf(arrival)
    await expectVerdict(webhook, true, "as it came")
    // Only the received bytes are valid, not the same JSON in another form.
    for (const body of [`${text} `, JSON.stringify(JSON.parse(text), null, 1), text.replace("dlv_", "dlv-")]) {
      await expectVerdict({ ...webhook, body: encode(body) }, false, body)
    }
    for (const secret of [`${webhook.secret}x`, webhook.secret.slice(0, -1), webhook.secret.toUpperCase(), "whsec_x"]) {
      await expectVerdict({ ...webhook, secret }, false, secret)
    }
    const later = header.replace(`t=${stamp}`, `t=${Number(stamp) + 1}`)
    await expectVerdict({ ...webhook, header: later }, false, later)
  })

  holds("signature.age", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { webhook } = await deliver(stage, account, receiver)
    const after = (seconds: number) => ({ ...webhook, at: new Date(webhook.at.getTime() + seconds * 1_000) })
    await expectVerdict(after(300), true, "after five minutes")
    await expectVerdict(after(301), false, "a second later")
  })

  holds("signature.malformed", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { arrival, webhook } = await deliver(stage, account, receiver)
    const { signatures: [hex = ""], stamp } = partsOf(arrival)
    const malformed = [
      "",
      "nonsense",
      `t=${stamp}`,
      `t=${stamp},v1=`,
      `t=${stamp},v0=${hex}`,
      `v1=${hex}`,
      `t=,v1=${hex}`,
      `t=now,v1=${hex}`,
      `t=-1,v1=${hex}`,
      `t=${stamp},v1=${hex.slice(1)}`,
      `t=${stamp},v1=${hex}0`,
      `t=${stamp};v1=${hex}`,
      hex
    ]
    for (const header of malformed) await expectVerdict({ ...webhook, header }, false, header)
  })

  holds("signature.several", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { arrival, webhook } = await deliver(stage, account, receiver)
    const { signatures: [hex = ""], stamp } = partsOf(arrival)
    const other = hmacOf("whsec_of_somebody_else", stamp, arrival.body)
    for (const header of [`t=${stamp},v1=${other},v1=${hex}`, `t=${stamp},v1=${hex},v1=${other}`]) {
      await expectVerdict({ ...webhook, header }, true, header)
    }
    await expectVerdict({ ...webhook, header: `t=${stamp},v1=${other},v1=${other}` }, false, "two of others")
  })
}

const secrets = ({ holds }: Define): void => {
  holds(["signature.once", "rotation.rotated"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { url } = receiver.inbox()
    const created = await Webhooks.register(stage, account, { url })
    expect(created.headers.get("cache-control")).toBe("no-store")
    const { secret: first, ...endpoint } = await Calls.jsonOf<Webhooks.Issued>(created)
    const rotated = await Webhooks.admin(stage, account, "POST", `/webhook-endpoints/${endpoint.id}/rotate`, {})
    expect(rotated.headers.get("cache-control")).toBe("no-store")
    const { secret: second } = await Calls.jsonOf<Webhooks.Issued>(rotated)
    expect(second).toMatch(/^whsec_/)
    expect(second).not.toBe(first)
    const path = `/webhook-endpoints/${endpoint.id}`
    const answers = await Promise.all([
      Webhooks.admin(stage, account, "GET", path),
      Webhooks.admin(stage, account, "GET", "/webhook-endpoints"),
      Webhooks.admin(stage, account, "PATCH", path, { types: null }),
      Webhooks.admin(stage, account, "GET", `${path}/sends`),
      Webhooks.admin(stage, account, "GET", `${path}/deliveries`)
    ])
    for (const answer of answers) {
      const text = await answer.text()
      expect([answer.status, text]).toEqual([200, expect.not.stringContaining("whsec_")])
      for (const secret of [first, second]) expect(text).not.toContain(secret.slice("whsec_".length))
    }
  })

  holds("rotation.newSecret", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await deliver(stage, account, receiver)
    const { secret } = await Webhooks.rotate(stage, account, endpoint)
    inbox.trust([secret])
    await Calls.ended(account)
    for (const arrival of (await inbox.until(3)).slice(1)) {
      expect(partsOf(arrival).signatures).toHaveLength(1)
      await expectVerdict(webhookOf(arrival, endpoint.secret), false, "with the secret before")
    }
  })
}

const rotating = ({ holds, inTime }: Define): void => {
  holds(["rotation.rotated", "rotation.overlap"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const at = await Webhooks.listen(stage, account, receiver)
    const first = at.endpoint.secret
    const half = () => Promise.all(Calls.numbers(15).map(() => Webhooks.test(stage, account, at.endpoint)))

    // With an overlap, the previous secret signs everything, and the new one everything after the rotation.
    const [, { secret: second }] = await Promise.all([
      half(),
      Webhooks.rotate(stage, account, at.endpoint, { overlap_seconds: 3_600 })
    ])
    const both = new Set((await half()).map(({ id }) => id))
    const overlapping = await at.inbox.until(30)
    for (const arrival of overlapping.filter(({ headers }) => both.has(headers.get("x-service-delivery") ?? ""))) {
      expect(partsOf(arrival).signatures).toHaveLength(2)
      await expectVerdict(webhookOf(arrival, second), true, "with the new secret")
    }

    // Without an overlap, previous secrets end at once. Meanwhile, webhooks have one or the other signature.
    const rotated = Webhooks.rotate(stage, account, at.endpoint)
    at.inbox.trust(rotated.then(({ secret }) => [first, second, secret]), "any")
    const [, { secret: third }] = await Promise.all([half(), rotated])
    await at.inbox.until(45)
    at.inbox.trust([third])
    await half()
    for (const arrival of (await at.inbox.until(60)).slice(45)) {
      await expectVerdict(webhookOf(arrival, second), false, "with the secret before")
    }
  })

  inTime("rotation.overlap", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver)
    const path = `/webhook-endpoints/${endpoint.id}/rotate`
    for (const overlap_seconds of [-1, 86_401, 1.5, "1"]) {
      const refused = Webhooks.admin(stage, account, "POST", path, { overlap_seconds })
      await Calls.refusalOf(await refused, 400, "invalid_request")
    }
    const { secret } = await Webhooks.rotate(stage, account, endpoint, { overlap_seconds: 86_400 })
    inbox.trust([endpoint.secret, secret])
    await stage.advance(86_400_000 - 1)
    await Webhooks.test(stage, account, endpoint)
    await inbox.until(1)
    inbox.trust([secret])
    await stage.advance(1)
    await Webhooks.test(stage, account, endpoint)
    const [, last] = await inbox.until(2)
    expect(last === undefined ? 0 : partsOf(last).signatures.length).toBe(1)
  })
}
