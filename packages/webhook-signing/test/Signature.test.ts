import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { createHmac } from "node:crypto"
import { inspect } from "node:util"
import { Signature } from "../src/index.ts"
import { body, event, now, otherSecret, reasonOf, refusal, secret, signed } from "./Scene.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_000_000_000 }))
const Word = Schema.String.check(Schema.isPattern(/^\S+$/))

const byNode = (secret: string, timestamp: number, body: Uint8Array) =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")

it.effect.prop(
  "signs with HMAC-SHA256 over the stamp, a dot and the raw bytes, keyed with the whole secret (section Signature)",
  [Bytes, Seconds, Word],
  ([bytes, timestamp, secret]) =>
    Effect.promise(async () => {
      const body = Uint8Array.from(bytes)
      const { sign } = await Signature.makeSigner(secret)
      assert.strictEqual(await sign(timestamp, body), byNode(secret, timestamp, body))
    })
)

it("signs a text as UTF-8, and a view as its part of the buffer", async () => {
  const { sign } = await Signature.makeSigner(secret)
  const bytes = new TextEncoder().encode(`x${body}x`)
  assert.strictEqual(await sign(now, body), await sign(now, bytes.subarray(1, -1)))
})

it("formats the header with a v1 for each secret, in order", async () => {
  const header = await Signature.sign({ body, secret: [secret, otherSecret], timestamp: now })
  const hexes = [secret, otherSecret].map((secret) => byNode(secret, now, new TextEncoder().encode(body)))
  assert.strictEqual(header, `t=${now},v1=${hexes[0]},v1=${hexes[1]}`)
  assert.strictEqual(Signature.format(now, hexes), header)
})

it("signs with the current time by default", async () => {
  const before = Math.floor(Date.now() / 1000)
  const [, timestamp] = /^t=(\d+),/.exec(await Signature.sign({ body, secret }))!
  assert.isAtLeast(Number(timestamp), before)
  assert.isAtMost(Number(timestamp), Date.now() / 1000)
})

it("rejects a secret that is empty or contains white space, without showing it", async () => {
  for (const bad of ["", `${secret}\n`, ` ${secret}`, "whsec_a b"]) {
    const error = await Signature.makeSigner(bad).then(() => undefined, (error: unknown) => error)
    assert.instanceOf(error, TypeError)
    if (bad !== "") assert.notInclude(inspect(error), bad.trim())
  }
})

it("rejects timestamps that are not whole seconds, and headers without a signature", async () => {
  const { sign } = await Signature.makeSigner(secret)
  for (const timestamp of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, now * 1000]) {
    const error = await sign(timestamp, body).then(() => undefined, (error: unknown) => error)
    assert.instanceOf(error, RangeError)
    assert.throws(() => Signature.format(timestamp, ["00"]), RangeError)
  }
  assert.throws(() => Signature.format(now, []), RangeError)
})

it("verifies raw bytes of every type, and text", async () => {
  const bytes = new TextEncoder().encode(body)
  const request = await signed()
  const forms = [body, bytes, Buffer.from(bytes), bytes.buffer, Buffer.from(`..${body}`).subarray(2)]
  for (const form of forms) {
    assert.deepStrictEqual(await Signature.verify({ ...request, body: form }), { timestamp: now, warnings: [] })
  }
})

it("finds the header in Headers and in objects, in any case, under any name", async () => {
  const { headers, ...request } = await signed()
  const value = headers["x-service-signature"]
  const holders: ReadonlyArray<Signature.HeadersLike> = [
    new Headers({ "X-Service-Signature": value }),
    new Map([["X-Service-Signature", value]]),
    { "X-SERVICE-Signature": value, "content-type": "application/json", get: "a header of this name" },
    { "x-service-signature": [value], other: undefined }
  ]
  for (const headers of holders) await Signature.verify({ ...request, headers })
  await Signature.verify({ ...request, headers: { "x-acme-signature": value }, headerName: "X-Acme-Signature" })
  assert.strictEqual(
    await reasonOf(Signature.verify({ ...request, headers: { "x-acme-signature": value } })),
    "missing_header"
  )
})

it("accepts the signature of any of the receiver's secrets, and ignores those that are not set", async () => {
  const request = await signed(body, otherSecret)
  for (const secrets of [[secret, otherSecret], [undefined, otherSecret, ""], otherSecret]) {
    await Signature.verify({ ...request, secret: secrets })
  }
  assert.strictEqual(await reasonOf(Signature.verify({ ...request, secret })), "no_match")
})

it("accepts any v1 of the header, in any position", async () => {
  for (const secrets of [[secret, otherSecret], [otherSecret, secret], [otherSecret, otherSecret, secret]]) {
    await Signature.verify(await signed(body, secrets))
  }
})

it("reports a missing secret or white space in one before it reads the request", async () => {
  const request = { body, headers: {} }
  for (const secret of [undefined, "", [], [undefined, ""]]) {
    assert.strictEqual(await reasonOf(Signature.verify({ ...request, secret })), "no_secret")
  }
  for (const bad of [`${secret}\n`, ` ${secret}`, [secret, `${otherSecret}\r`]]) {
    assert.strictEqual(await reasonOf(Signature.verify({ ...request, secret: bad })), "secret_whitespace")
  }
})

it("reports a parsed or missing body", async () => {
  const request = await signed()
  const handed = (body: unknown) => reasonOf(Signature.verify({ ...request, body: body as string }))
  for (const parsed of [event, [1], 7, false]) assert.strictEqual(await handed(parsed), "parsed_body")
  for (const missing of [undefined, null]) assert.strictEqual(await handed(missing), "missing_body")
})

it("rejects a timestamp older than 300 seconds, and accepts one of exactly 300 seconds", async () => {
  const aged = async (seconds: number, toleranceSeconds?: number) =>
    Signature.verify({ ...await signed(body, secret, now - seconds), toleranceSeconds })
  await aged(300)
  await Signature.verify({ ...await signed(), nowMillis: (now + 300) * 1000 + 999 })
  await aged(60, 60)
  await aged(now, Number.POSITIVE_INFINITY)
  assert.strictEqual(await reasonOf(aged(301)), "expired")
  assert.strictEqual(await reasonOf(aged(61, 60)), "expired")
  assert.strictEqual(await reasonOf(aged(1, 0)), "expired")
  assert.include((await refusal(aged(301))).message, "is 301 s old; the maximum is 300 s")
})

it("accepts a timestamp in the future, and warns if it is far ahead", async () => {
  const ahead = async (seconds: number) => Signature.verify(await signed(body, secret, now + seconds))
  assert.deepStrictEqual((await ahead(300)).warnings, [])
  const { timestamp, warnings } = await ahead(100_000)
  assert.strictEqual(timestamp, now + 100_000)
  assert.deepStrictEqual(warnings.map(({ code }) => code), ["future_timestamp"])
  assert.include(warnings[0]!.message, "100000 s in the future")
})

it("reports only a valid signature as expired", async () => {
  const request = await signed(body, otherSecret, 0)
  assert.strictEqual(await reasonOf(Signature.verify(request)), "no_match")
})

it("rejects an invalid tolerance", async () => {
  for (const toleranceSeconds of [-1, Number.NaN]) {
    const error = await Signature.verify({ ...await signed(), toleranceSeconds }).catch((error: unknown) => error)
    assert.instanceOf(error, RangeError)
  }
})

it("rejects a NaN time, by which no signature would be too old", async () => {
  for (const nowMillis of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const error = await Signature.verify({ ...await signed(body, secret, 0), nowMillis }).catch((error: unknown) =>
      error
    )
    assert.instanceOf(error, RangeError)
  }
})

it("uses the current time by default", async () => {
  const header = (timestamp: number) => Signature.sign({ body, secret, timestamp })
  const at = async (timestamp: number) =>
    Signature.verify({ body, secret, headers: { "x-service-signature": await header(timestamp) } })
  const present = Math.floor(Date.now() / 1000)
  assert.deepStrictEqual((await at(present)).warnings, [])
  assert.strictEqual(await reasonOf(at(present - 1000)), "expired")
})

it("shows no secret, signature or body in any error", async () => {
  const good = await signed()
  const header = good.headers["x-service-signature"]
  const errors = await Promise.all([
    Signature.verify({ ...good, secret: otherSecret }),
    Signature.verify({ ...good, secret: `${secret}\n` }),
    Signature.verify({ ...good, nowMillis: now * 2000 }),
    Signature.verify({ ...good, headers: { "x-service-signature": header.toUpperCase() } }),
    Signature.verify({ ...good, headers: { "x-service-signature": `${header}!` } })
  ].map(refusal))
  for (const error of errors) {
    const shown = `${inspect(error, { depth: null })}${JSON.stringify(error)}`
    for (const hidden of [secret, otherSecret, header.slice(-64), "naïve"]) {
      assert.notInclude(shown.toLowerCase(), hidden)
    }
  }
})
