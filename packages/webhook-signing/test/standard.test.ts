/** Compatibility with the unmodified library of Standard Webhooks, and the rules beyond it. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Readable } from "node:stream"
import { Webhook as Reference } from "standardwebhooks"
import * as Standard from "../src/standard.ts"
import { body, event, now, otherSecret, refusal, secret } from "./Scene.ts"

const Id = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/))
const Key = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isBetweenLength(24, 64)
)
const id = "dlv_1"
const nowMillis = now * 1000

/** Returns a signed request. */
const signed = async (secrets: string | ReadonlyArray<string> = secret, timestamp = now) => ({
  body,
  secret,
  nowMillis,
  headers: { ...await Standard.sign({ id, body, secret: secrets, timestamp }) }
})

const reasonOf = async (verified: Promise<unknown>) => (await refusal(verified)).reason

/** Returns the error of the reference library, which reads the clock of the machine. */
const byReference = (secret: string, body: string, headers: Standard.StandardHeaders): unknown =>
  new Reference(secret).verify(body, { ...headers })

it("signs the example of the specification", async () => {
  const headers = await Standard.sign({
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: "{\"test\": 2432232314}",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    timestamp: 1614265330
  })
  assert.deepStrictEqual(headers, {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  })
})

it.effect.prop(
  "signs what the library verifies and verifies what the library signs, with any key and any of its own secrets",
  [Id, Schema.Json, Key],
  ([id, data, key]) =>
    Effect.promise(async () => {
      const text = JSON.stringify({ data })
      for (const secret of [`whsec_${Buffer.from(key).toString("base64")}`, otherSecret]) {
        const headers = await Standard.sign({ id, body: text, secret })
        assert.deepStrictEqual(byReference(secret, text, headers), JSON.parse(text))

        const at = new Date()
        const theirs = {
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": new Reference(secret).sign(id, at, text)
        }
        for (const body of [text, new TextEncoder().encode(text)]) {
          const checked = await Standard.verify({ body, headers: theirs, secret })
          assert.deepStrictEqual(checked, { id, timestamp: Math.floor(at.getTime() / 1000) })
        }
      }
    }),
  { arbitrary: { runs: 30 } }
)

it("verifies with either secret during a rotation, and with the new one after it", async () => {
  const headers = await Standard.sign({ id, body, secret: [secret, otherSecret] })
  assert.match(headers["webhook-signature"], /^v1,\S{44} v1,\S{44}$/)
  for (const known of [secret, otherSecret]) {
    assert.deepStrictEqual(byReference(known, body, headers), event)
    assert.strictEqual((await Standard.verify({ body, headers, secret: known })).id, id)
  }
  const after = await signed(secret)
  assert.strictEqual((await Standard.verify({ ...after, secret: [otherSecret, undefined, secret] })).id, id)
  assert.strictEqual(await reasonOf(Standard.verify({ ...after, secret: otherSecret })), "no_match")
})

it("accepts timestamps within the tolerance in both directions", async () => {
  for (const age of [-300, 0, 300]) {
    assert.strictEqual((await Standard.verify(await signed(secret, now - age))).timestamp, now - age)
  }
  assert.strictEqual(await reasonOf(Standard.verify(await signed(secret, now - 301))), "expired")
  assert.strictEqual(await reasonOf(Standard.verify(await signed(secret, now + 301))), "not_yet_valid")
  const late = { ...await signed(secret, now + 10), toleranceSeconds: 9 }
  assert.strictEqual(await reasonOf(Standard.verify(late)), "not_yet_valid")
  assert.strictEqual((await Standard.verify({ ...late, toleranceSeconds: Infinity })).timestamp, now + 10)
  for (const toleranceSeconds of [-1, NaN]) {
    const error = await Standard.verify({ ...late, toleranceSeconds }).catch((error: unknown) => error)
    assert.instanceOf(error, RangeError)
  }
})

it("rejects another body, id, timestamp or secret before it considers the age", async () => {
  const request = await signed(secret, now - 10_000)
  const changed = [
    { ...request, body: `${body} ` },
    { ...request, secret: otherSecret },
    { ...request, headers: { ...request.headers, "webhook-id": "dlv_2" } },
    { ...request, headers: { ...request.headers, "webhook-timestamp": String(now) } }
  ]
  for (const request of changed) assert.strictEqual(await reasonOf(Standard.verify(request)), "no_match")
})

const { headers } = await signed()
const other = (await signed(otherSecret)).headers["webhook-signature"]

it.each<readonly [string, Readonly<Record<string, string | ReadonlyArray<string>>>, string]>([
  ["no id", { "webhook-id": "" }, "missing_header"],
  ["no timestamp", { "webhook-timestamp": "" }, "missing_header"],
  ["no signature", { "webhook-signature": "" }, "missing_header"],
  ["an id with a dot", { "webhook-id": "dlv.1" }, "malformed_header"],
  ["two ids", { "webhook-id": [id, id] }, "malformed_header"],
  ["a long id", { "webhook-id": "x".repeat(257) }, "malformed_header"],
  ["a timestamp in milliseconds with a sign", { "webhook-timestamp": `+${nowMillis}` }, "malformed_header"],
  ["a zero before the timestamp", { "webhook-timestamp": `0${now}` }, "malformed_header"],
  [
    "only another version",
    { "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") },
    "malformed_header"
  ],
  ["an item without a version", { "webhook-signature": `${headers["webhook-signature"]} x` }, "malformed_header"],
  ["two spaces", { "webhook-signature": `${other}  ${headers["webhook-signature"]}` }, "malformed_header"],
  [
    "a signature without padding",
    { "webhook-signature": headers["webhook-signature"].slice(0, -1) },
    "malformed_header"
  ],
  ["a signature in hex", { "webhook-signature": `v1,${"0".repeat(64)}` }, "malformed_header"],
  [
    "17 signatures",
    { "webhook-signature": `${`${other} `.repeat(16)}${headers["webhook-signature"]}` },
    "malformed_header"
  ],
  [
    "a long header",
    { "webhook-signature": `${headers["webhook-signature"]} v2,${"0".repeat(4096)}` },
    "malformed_header"
  ]
])("rejects %s before it reads the body", async (_, changed, reason) => {
  const stream = Readable.from([body])
  const request = Object.assign(stream, { headers: { ...headers, ...changed } })
  assert.strictEqual(await reasonOf(Standard.receive(request, { secret, nowMillis })), reason)
  assert.isFalse(stream.readableDidRead)
})

it("ignores signatures of other versions", async () => {
  const request = await signed()
  const signature = `v1a,${"A".repeat(86)}== ${request.headers["webhook-signature"]}`
  const headers = new Headers({ ...request.headers, "webhook-signature": signature })
  assert.strictEqual((await Standard.verify({ ...request, headers })).id, id)
})

it("receives requests of all kinds and parses the body", async () => {
  const { headers } = await signed()
  const requests = [
    new Request("https://shop.example", { method: "POST", body, headers }),
    Object.assign(Readable.from([Buffer.from(body)]), { headers }),
    { headers, body: event, rawBody: Buffer.from(body) }
  ]
  for (const request of requests) {
    const verified = await Standard.receive<typeof event>(request, { secret, nowMillis })
    assert.deepStrictEqual(verified, { id, timestamp: now, event })
  }
  const parsed = Standard.receive({ headers, body: event }, { secret, nowMillis })
  assert.strictEqual(await reasonOf(parsed), "parsed_body")
  const large = Standard.receive({ headers, body }, { secret, nowMillis, bodyBytesMax: 10 })
  assert.strictEqual(Standard.statusOf(await refusal(large)), 413)
})

it("rejects a signed body that is not JSON when it parses, but verifies it", async () => {
  const text = "parcel=P-1"
  const headers = await Standard.sign({ id, body: text, secret, timestamp: now })
  const request = { headers: { ...headers }, body: text }
  assert.strictEqual((await Standard.verify({ ...request, secret, nowMillis })).id, id)
  assert.strictEqual(await reasonOf(Standard.receive(request, { secret, nowMillis })), "malformed_event")
})

it("rejects secrets that are not Base64, and does not show them", async () => {
  const request = await signed()
  for (const wrong of ["whsec_a_b", "whsec_", "whsec_a-b", "whsec_MfKQ9"]) {
    const error = await refusal(Standard.verify({ ...request, secret: wrong }))
    assert.deepStrictEqual([error.reason, error.status], ["malformed_secret", 500])
    assert.notInclude(error.message, wrong)
  }
  assert.strictEqual(await reasonOf(Standard.verify({ ...request, secret: undefined })), "no_secret")
  assert.strictEqual(await reasonOf(Standard.verify({ ...request, secret: `${secret}\n` })), "secret_whitespace")
  for (const wrong of ["", "whsec_a_b", `${secret}\n`, "whsec_c2hvcnQ=", `whsec_${"A".repeat(88)}`]) {
    const error = await Standard.makeSigner(wrong).catch((error: unknown) => error)
    assert.instanceOf(error, TypeError)
  }
})

it("does not sign invalid ids and timestamps", async () => {
  for (const wrong of ["", "a.b", "a,b", "a b", "ü", "x".repeat(257)]) {
    assert.instanceOf(await Standard.sign({ id: wrong, body, secret }).catch((error: unknown) => error), RangeError)
  }
  for (const timestamp of [nowMillis, 0.5, -1]) {
    assert.instanceOf(await Standard.sign({ id, body, secret, timestamp }).catch((error: unknown) => error), RangeError)
  }
  assert.throws(() => Standard.headersOf(id, now, []), RangeError)
})
