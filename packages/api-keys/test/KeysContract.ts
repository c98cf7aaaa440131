import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { DateTime, Duration, Effect, Layer, Option, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { IpNetwork } from "effect/net"
import * as ApiKey from "../src/ApiKey.ts"
import type { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { isKnown, makeHost, makeKey, makeOwner, reasonOf } from "../src/internal/contract/hosts.ts"
import * as KeyTerms from "../src/KeyTerms.ts"

/** Checks of commands, on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<ApiKeyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`ApiKeys (${name})`, (it) => {
    it.effect("keeps metadata as it was when the caller changes its object", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const metadata = { tags: ["a"] }
        const { record } = yield* host.create({ owner, name: "key", metadata })
        metadata.tags.push("b")
        assert.deepStrictEqual((yield* host.get(owner, record.id)).metadata, { tags: ["a"] })
      }))

    it.effect("returns metadata as JSON has it, whatever objects it was made of", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const metadata = { zero: -0, hole: Array<Schema.Json>(1), proxy: new Proxy({ a: 1 }, {}) }
        const { record } = yield* host.create({ owner, name: "key", metadata })
        assert.deepStrictEqual(record.metadata, { zero: 0, hole: [null], proxy: { a: 1 } })
        assert.deepStrictEqual(yield* host.get(owner, record.id), record)
      }))

    it.effect("rejects invalid owners, authors and names", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const owner of ["", "a\0", "\udc00", "x".repeat(ApiKey.ownerCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key" })), "OwnerInvalid")
          assert.strictEqual(yield* reasonOf(host.list(owner)), "OwnerInvalid")
        }
        const owner = "x".repeat(ApiKey.ownerCharsMax)
        const createdBy = "x".repeat(ApiKey.authorCharsMax)
        for (const author of ["", "a\0", "\udc00", `${createdBy}x`]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", createdBy: author })), "OwnerInvalid")
        }
        for (const name of ["", " ", "a\nb", "a\0", "\udc00", "a".repeat(ApiKey.nameCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name })), "NameInvalid")
        }
        yield* host.create({ owner, name: "a".repeat(ApiKey.nameCharsMax), createdBy })
        assert.strictEqual((yield* host.list(owner)).length, 1)
      }))

    it.effect("rejects terms under which a key is good for nothing", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const network = IpNetwork.fromStringUnsafe("192.0.2.0/24")
        const invalid: ReadonlyArray<Partial<KeyTerms.KeyTerms>> = [
          { expiresAt: Option.some(yield* DateTime.now) },
          { expiresAt: Option.some(DateTime.makeUnsafe("+010000-01-01T00:00:00Z")) },
          { scopes: Option.some([]) },
          { scopes: Option.some([""]) },
          { scopes: Option.some(["a\0"]) },
          { scopes: Option.some(["a".repeat(KeyTerms.scopeCharsMax + 1)]) },
          { scopes: Option.some(Array(KeyTerms.scopesMax + 1).fill("a")) },
          { networks: Option.some([]) },
          { networks: Option.some(Array(KeyTerms.networksMax + 1).fill(network)) }
        ]
        for (const terms of invalid) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", terms })), "TermsInvalid")
        }
        assert.deepStrictEqual(yield* host.list(owner), [])
      }))

    it.effect("rejects metadata that is too large, or no JSON that the store returns as it was", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ metadataCharsMax: 20 })
        const owner = makeOwner()
        const cycle: Record<string, Schema.Json> = {}
        cycle["self"] = cycle
        const invalid: ReadonlyArray<ApiKey.Metadata> = [
          { text: "a".repeat(10) },
          { text: "\0" },
          { "\ud800": 1 },
          { number: Number.NaN },
          cycle,
          JSON.parse("[1]") as ApiKey.Metadata
        ]
        for (const metadata of invalid) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", metadata })), "MetadataInvalid")
        }
        yield* host.create({ owner, name: "key", metadata: { text: "a".repeat(9) } })
      }))

    it.effect("rejects an overlap that ends after the last time that a key can expire", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        for (const overlap of [Duration.infinity, Number.MAX_SAFE_INTEGER]) {
          assert.strictEqual(yield* reasonOf(host.roll({ owner, id: record.id, overlap })), "TermsInvalid")
        }
        assert.deepStrictEqual(yield* host.list(owner), [record])
        assert.isTrue(yield* isKnown(host, key))
      }))
  })
