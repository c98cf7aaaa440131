import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Redacted } from "effect"
import { createHmac } from "node:crypto"
import * as UrlSigner from "../src/UrlSigner.ts"

const oldKey = Redacted.make("an old key of more than 32 bytes, no longer used")
const newKey = Redacted.make("a new key of more than 32 bytes, the one to sign")
const otherKey = Redacted.make("a key of somebody else of more than 32 bytes too")

const path = "/v1/generations/gen_01h455vb4pex5vsknk084sn02q/content"
const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1_000)

it.effect("verifies a signed path until the second of its expiry", () =>
  Effect.sync(() => {
    const { sign, verify } = UrlSigner.make({ keys: [newKey] })
    const pair = sign(path, DateTime.makeUnsafe(2_000_999))
    assert.strictEqual(pair.exp, "2000")
    assert.match(pair.sig, /^[\w-]{43}$/)
    assert.strictEqual(verify(path, pair, at(0)), "Valid")
    assert.strictEqual(verify(path, pair, DateTime.makeUnsafe(1_999_999)), "Valid")
    assert.strictEqual(verify(path, pair, at(2_000)), "Expired")
    assert.strictEqual(verify(path, pair, at(9_999)), "Expired")
  }))

it.effect("returns the URL of a path with its pair", () =>
  Effect.sync(() => {
    const signer = UrlSigner.make({ keys: [newKey] })
    const url = new URL(UrlSigner.urlOf(signer, "https://files.example", path, at(2_000)))
    assert.strictEqual(`${url.origin}${url.pathname}`, `https://files.example${path}`)
    assert.deepStrictEqual(Object.fromEntries(url.searchParams), { ...signer.sign(path, at(2_000)) })
  }))

it.effect("is the base64url HMAC-SHA256 of a text with a purpose line", () =>
  Effect.sync(() => {
    const { sign } = UrlSigner.make({ keys: [newKey] })
    const expected = createHmac("sha256", Redacted.value(newKey)).update(`kinora-url-1\n2000\n${path}`)
    assert.strictEqual(sign(path, at(2_000)).sig, expected.digest("base64url"))
  }))

it.effect("returns the same pair for the same input", () =>
  Effect.sync(() => {
    const { sign } = UrlSigner.make({ keys: [newKey] })
    assert.deepStrictEqual(sign(path, at(2_000)), sign(path, DateTime.makeUnsafe(2_000_500)))
  }))

it.effect("verifies with every key, and signs with the first", () =>
  Effect.sync(() => {
    const now = at(1_000)
    const before = UrlSigner.make({ keys: [oldKey] })
    const during = UrlSigner.make({ keys: [newKey, oldKey] })
    const done = UrlSigner.make({ keys: [newKey] })
    const old = before.sign(path, at(2_000))
    const young = during.sign(path, at(2_000))
    assert.deepStrictEqual([before, during, done].map(({ verify }) => verify(path, old, now)), [
      "Valid",
      "Valid",
      "Wrong"
    ])
    assert.deepStrictEqual([before, during, done].map(({ verify }) => verify(path, young, now)), [
      "Wrong",
      "Valid",
      "Valid"
    ])
    assert.strictEqual(UrlSigner.make({ keys: [otherKey] }).verify(path, young, now), "Wrong")
  }))

it.effect("is Wrong if the path or the expiry was changed, also after the expiry", () =>
  Effect.sync(() => {
    const { sign, verify } = UrlSigner.make({ keys: [newKey, oldKey] })
    const { exp, sig } = sign(path, at(2_000))
    const changes: ReadonlyArray<readonly [string, UrlSigner.SignedPair]> = [
      [path + "/", { exp, sig }],
      [path.replace("content", "preview"), { exp, sig }],
      ["", { exp, sig }],
      [path, { exp: "2001", sig }],
      [path, { exp: "999999999999", sig }],
      [path, { exp: "02000", sig }],
      [path, { exp: "2000.0", sig }],
      [path, { exp: "2000 ", sig }],
      [path, { exp: "+2000", sig }],
      [path, { exp: "2e3", sig }],
      [path, { exp: "", sig }],
      [path, { exp, sig: "" }],
      [path, { exp, sig: sig.slice(0, -1) }],
      [path, { exp, sig: `${sig}=` }],
      [path, { exp, sig: `${sig}A` }],
      [path, { exp, sig: ` ${sig}` }],
      [path, { exp, sig: sig.toUpperCase() }],
      [path, { exp, sig: "ä".repeat(43) }],
      [path, { exp, sig: "A".repeat(43) }],
      [path, { exp, sig: sign(path, at(2_001)).sig }],
      [path, { exp, sig: sign("/other", at(2_000)).sig }]
    ]
    for (const [path, pair] of changes) {
      for (const now of [at(1_000), at(3_000)]) {
        assert.strictEqual(verify(path, pair, now), "Wrong", JSON.stringify([path, pair]))
      }
    }
  }))

it.effect("is Wrong with another character anywhere in the signature", () =>
  Effect.sync(() => {
    const { sign, verify } = UrlSigner.make({ keys: [newKey] })
    const { exp, sig } = sign(path, at(2_000))
    for (let index = 0; index < sig.length; index++) {
      for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=") {
        if (letter === sig[index]) continue
        const changed = sig.slice(0, index) + letter + sig.slice(index + 1)
        assert.strictEqual(verify(path, { exp, sig: changed }, at(1_000)), "Wrong")
      }
    }
  }))

it.effect("does not accept a part of the path as the expiry", () =>
  Effect.sync(() => {
    const { sign, verify } = UrlSigner.make({ keys: [newKey] })
    const { sig } = sign("5\n/a", at(2_000))
    assert.strictEqual(verify("/a", { exp: "2000\n5", sig }, at(1_000)), "Wrong")
  }))

it.effect("dies if a key is too short, without showing the key", () =>
  Effect.gen(function*() {
    const short = Redacted.make("x".repeat(31))
    const build = (keys: UrlSigner.UrlSignerOptions["keys"]) =>
      Effect.exit(Effect.void.pipe(Effect.provide(UrlSigner.layer({ keys }))))
    assert.isTrue(Exit.isSuccess(yield* build([newKey, oldKey])))
    for (const keys of [[short], [newKey, short]] as const) {
      const exit = yield* build(keys)
      assert.isTrue(Exit.isFailure(exit))
      assert.notInclude(String(exit), "xxxx")
    }
  }))
