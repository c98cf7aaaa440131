/** Compatibility with the unmodified Stripe library. A table lists the intended differences. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Stripe } from "stripe"
import { Secret, Signature, Webhook } from "../src/index.ts"
import { body, event, now, otherSecret, reasonOf, secret } from "./Scene.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isBetweenLength(32, 32)
)
const Envelope = Schema.Struct({
  id: Schema.NonEmptyString,
  type: Schema.String,
  created_at: Schema.String,
  data: Schema.Json
})
const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_000_000_000 }))
const Age = Schema.Int.check(Schema.isBetween({ minimum: -100_000, maximum: 300 }))
const Word = Schema.String.check(Schema.isPattern(/^\S+$/))
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

interface Arrived {
  readonly body: string | Uint8Array
  readonly header: string
  readonly secret: string
  /** Seconds. */
  readonly now: number
}

/** Verifies with Stripe's library and returns the event. */
const byStripe = ({ body, header, now, secret }: Arrived): unknown =>
  Stripe.webhooks.constructEvent(
    typeof body === "string" ? body : Buffer.from(body),
    header,
    secret,
    undefined,
    undefined,
    now * 1000
  )

/** Verifies with this package and returns the event. */
const byUs = async ({ body, header, now, secret }: Arrived): Promise<Webhook.Verified> =>
  Webhook.verify({ body, secret, headers: { "x-service-signature": header }, nowMillis: now * 1000 })

const refusedByBoth = async (arrived: Arrived): Promise<Webhook.Reason> => {
  assert.throws(() => byStripe(arrived))
  return reasonOf(byUs(arrived))
}

it.effect.prop(
  "verifies whatever we sign, as text and as bytes, with any secret, at any time (section Signature)",
  [Envelope, Word, Seconds, Age],
  ([envelope, secret, timestamp, age]) =>
    Effect.promise(async () => {
      const text = JSON.stringify(envelope)
      for (const body of [text, new TextEncoder().encode(text)]) {
        const header = await Signature.sign({ body, secret: [otherSecret, secret], timestamp })
        const arrived = { body, header, secret, now: timestamp + age }
        assert.deepStrictEqual(byStripe(arrived), JSON.parse(text))
        assert.deepStrictEqual((await byUs(arrived)).event, JSON.parse(text))
      }
    })
)

it.effect.prop(
  "refuses with us every change of a bit of the body, of the stamp, of a digit and of the secret",
  [Envelope, Bytes, Seconds, Place, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 255 }))],
  ([envelope, random, timestamp, place, change]) =>
    Effect.promise(async () => {
      const bytes = new TextEncoder().encode(JSON.stringify(envelope))
      const secret = Secret.encode(Uint8Array.from(random))
      const header = await Signature.sign({ body: bytes, secret, timestamp })
      const arrived = { body: bytes, header, secret, now: timestamp }
      const hex = header.slice(-64)

      const flipped = bytes.map((byte, i) => i === place % bytes.length ? byte ^ (1 << (change % 8)) : byte)
      assert.strictEqual(await refusedByBoth({ ...arrived, body: flipped }), "no_match")
      assert.strictEqual(
        await refusedByBoth({ ...arrived, body: bytes.slice(0, place % bytes.length || 1) }),
        "no_match"
      )
      assert.strictEqual(await refusedByBoth({ ...arrived, body: Uint8Array.of(...bytes, change) }), "no_match")

      const stamped = header.replace(`t=${timestamp}`, `t=${timestamp + change}`)
      assert.strictEqual(await refusedByBoth({ ...arrived, header: stamped }), "no_match")

      const digit = ((Number.parseInt(hex[place % 64]!, 16) + (change % 15) + 1) % 16).toString(16)
      const forged = hex.slice(0, place % 64) + digit + hex.slice((place % 64) + 1)
      assert.strictEqual(await refusedByBoth({ ...arrived, header: header.replace(hex, forged) }), "no_match")

      const others = [
        otherSecret,
        secret.slice("whsec_".length),
        secret.slice(0, -1),
        `${secret}0`,
        secret.toUpperCase()
      ]
      for (const secret of others) assert.strictEqual(await refusedByBoth({ ...arrived, secret }), "no_match")
      assert.strictEqual(await refusedByBoth({ ...arrived, now: timestamp + 301 }), "expired")
    })
)

const good = await Signature.sign({ body, secret, timestamp: now })
const hex = good.slice(-64)
const other = await Signature.sign({ body, secret: otherSecret, timestamp: now })
const otherHex = other.slice(-64)

/** A header with the results of both libraries. */
type Row = readonly [title: string, header: string, stripe: "accepts" | "refuses", us: "accepts" | Webhook.Reason]

const table = (rows: ReadonlyArray<Row>) => {
  for (const [title, header, stripe, us] of rows) {
    it(`${title}: Stripe ${stripe}, this package returns ${us}`, async () => {
      const arrived = { body, header, secret, now }
      if (stripe === "accepts") assert.deepStrictEqual(byStripe(arrived), event)
      else assert.throws(() => byStripe(arrived))
      if (us === "accepts") assert.deepStrictEqual((await byUs(arrived)).event, event)
      else assert.strictEqual(await reasonOf(byUs(arrived)), us)
    })
  }
}

describe("headers on which both agree", () => {
  table([
    ["one v1", good, "accepts", "accepts"],
    ["another scheme beside it", `t=${now},v0=${otherHex},v1=${hex},v2=x,v1a=!`, "accepts", "accepts"],
    ["the stamp behind", `v1=${hex},t=${now}`, "accepts", "accepts"],
    ["the right v1 first", `t=${now},v1=${hex},v1=${otherHex}`, "accepts", "accepts"],
    ["the right v1 last", `t=${now},v1=${otherHex},v1=${hex}`, "accepts", "accepts"],
    ["no header", "", "refuses", "missing_header"],
    ["nothing of it", "nonsense", "refuses", "malformed_header"],
    ["no stamp", `v1=${hex}`, "refuses", "malformed_header"],
    ["no signature", `t=${now}`, "refuses", "malformed_header"],
    ["only another scheme", `t=${now},v0=${hex}`, "refuses", "malformed_header"],
    ["an empty v1", `t=${now},v1=`, "refuses", "malformed_header"],
    ["an empty stamp", `t=,v1=${hex}`, "refuses", "malformed_header"],
    ["a stamp in letters", `t=now,v1=${hex}`, "refuses", "malformed_header"],
    ["a signature in capitals", `t=${now},v1=${hex.toUpperCase()}`, "refuses", "malformed_header"],
    ["a signature that is too short", `t=${now},v1=${hex.slice(1)}`, "refuses", "malformed_header"],
    ["a signature that is too long", `t=${now},v1=${hex}0`, "refuses", "malformed_header"],
    ["letters that are not hex", `t=${now},v1=${"g".repeat(64)}`, "refuses", "malformed_header"],
    ["a scheme in capitals", `t=${now},V1=${hex}`, "refuses", "malformed_header"],
    ["a space behind a comma", `t=${now}, v1=${hex}`, "refuses", "malformed_header"],
    ["a semicolon", `t=${now};v1=${hex}`, "refuses", "malformed_header"],
    ["another secret's", other, "refuses", "no_match"]
  ])
})

describe("headers that we call malformed as the interface says, and Stripe's library half-reads (section Signature)", () => {
  table([
    ["two stamps", `t=${now - 1},t=${now},v1=${hex}`, "accepts", "malformed_header"],
    ["letters behind the stamp", `t=${now}abc,v1=${hex}`, "accepts", "malformed_header"],
    ["a zero before the stamp", `t=0${now},v1=${hex}`, "accepts", "malformed_header"],
    ["a fraction of a second", `t=${now}.5,v1=${hex}`, "accepts", "malformed_header"],
    ["a plus before the stamp", `t=+${now},v1=${hex}`, "accepts", "malformed_header"],
    ["a malformed v1 beside the right one", `t=${now},v1=${hex},v1=zz`, "accepts", "malformed_header"],
    ["something behind the signature", `t=${now},v1=${hex}=zz`, "accepts", "malformed_header"],
    ["an item that says nothing", `t=${now},v1=${hex},zz`, "accepts", "malformed_header"],
    ["an item without a name", `t=${now},v1=${hex},=zz`, "accepts", "malformed_header"],
    ["a comma too many", `t=${now},v1=${hex},`, "accepts", "malformed_header"],
    ["17 signatures", `t=${now}${`,v1=${otherHex}`.repeat(16)},v1=${hex}`, "accepts", "malformed_header"],
    ["a long header", `${good},v0=${"0".repeat(4096)}`, "accepts", "malformed_header"]
  ])
})

it("limits the number of signatures and the length of the header by its options", async () => {
  const header = `t=${now}${`,v1=${otherHex}`.repeat(99)},v1=${hex}`
  const request = { body, secret, headers: { "x-service-signature": header }, nowMillis: now * 1000 }
  await Signature.verify({ ...request, signaturesMax: 100, headerLengthMax: 10_000 })
  assert.strictEqual(await reasonOf(Signature.verify({ ...request, signaturesMax: 100 })), "malformed_header")
  assert.strictEqual(await reasonOf(Signature.verify({ ...request, headerLengthMax: 10_000 })), "malformed_header")
})

it("accepts a signed body with a byte order mark, which Stripe's library rejects because it verifies text", async () => {
  const marked = new TextEncoder().encode(`\uFEFF${body}`)
  const arrived = { body: marked, header: await Signature.sign({ body: marked, secret, timestamp: now }), secret, now }
  assert.throws(() => byStripe(arrived))
  assert.deepStrictEqual((await byUs(arrived)).event, event)
})

it("rejects signed bodies that are not JSON, not UTF-8 or empty, like Stripe's library", async () => {
  const invalid = new TextEncoder().encode(body).with(body.indexOf("naïve"), 0xff)
  for (const body of ["", "{", "[1", invalid]) {
    const arrived = { body, header: await Signature.sign({ body, secret, timestamp: now }), secret, now }
    assert.strictEqual(await refusedByBoth(arrived), "malformed_event")
  }
})

it("accepts a signed body that is not an event with Signature.verify, like Stripe's library", async () => {
  const bodies = [
    "1",
    "null",
    "[]",
    "{}",
    "\"dlv_1\"",
    JSON.stringify({ ...event, id: undefined }),
    JSON.stringify({ ...event, id: "" }),
    JSON.stringify({ ...event, type: 1 }),
    JSON.stringify({ ...event, created_at: null }),
    JSON.stringify({ ...event, data: undefined })
  ]
  for (const body of bodies) {
    const arrived = { body, header: await Signature.sign({ body, secret, timestamp: now }), secret, now }
    assert.deepStrictEqual(byStripe(arrived), JSON.parse(body))
    await Signature.verify({
      body,
      secret,
      headers: { "x-service-signature": arrived.header },
      nowMillis: now * 1000
    })
    assert.strictEqual(await reasonOf(byUs(arrived)), "malformed_event")
  }
})

it("Stripe's asynchronous verification accepts the signature", async () => {
  const provider = Stripe.createSubtleCryptoProvider()
  const verified = await Stripe.webhooks.constructEventAsync(body, good, secret, undefined, provider, now * 1000)
  assert.deepStrictEqual<unknown>(verified, event)
})

it("verifies signatures of Stripe's library", async () => {
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: now })
  assert.deepStrictEqual((await byUs({ body, header, secret, now })).event, event)
})
