/** API keys of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import { inspect } from "node:util"
import {
  ApiKeysError,
  createApiKeys,
  hasScope,
  KeyEndedError,
  KeyNotFoundError,
  MetadataInvalidError,
  NameInvalidError,
  OwnerInvalidError,
  TermsInvalidError
} from "../src/promise.ts"

const errorOf = (call: Promise<unknown>) => call.then(() => undefined, (error: unknown) => error)

it("creates, verifies, lists, renames, rolls and revokes keys with dates and plain objects", async () => {
  await using keys = await createApiKeys({ memory: true, prefix: "acme_" })
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { key, record } = await keys.create({
    owner: "ada",
    name: "laptop",
    expiresAt,
    scopes: ["read"],
    networks: ["192.0.2.0/24"],
    metadata: { environment: "test" },
    createdBy: "user-7"
  })
  assert.match(key, /^acme_/)
  assert.deepStrictEqual(record, {
    id: record.id,
    owner: "ada",
    name: "laptop",
    prefix: key.slice(0, 13),
    line: record.id,
    expiresAt,
    scopes: ["read"],
    networks: ["192.0.2.0/24"],
    metadata: { environment: "test" },
    createdAt: record.createdAt,
    createdBy: "user-7",
    lastUsedAt: undefined,
    revokedAt: undefined
  })
  assert.instanceOf(record.createdAt, Date)
  assert.isUndefined(await keys.verify({ key }))
  assert.deepStrictEqual(await keys.verify({ key, address: "192.0.2.7" }), record)
  assert.deepStrictEqual([hasScope(record, "read"), hasScope(record, "write"), hasScope({}, "write")], [
    true,
    false,
    true
  ])

  const { id, owner } = record
  assert.strictEqual((await keys.rename({ owner, id, name: "desktop" })).name, "desktop")
  const rolled = await keys.roll({ owner, id, overlap: "1 minute" })
  assert.strictEqual(rolled.record.line, id)
  const revoked = await keys.revoke({ owner, id })
  assert.instanceOf(revoked.revokedAt, Date)
  assert.deepStrictEqual(await keys.list({ owner }), [rolled.record, revoked])
  assert.deepStrictEqual(await keys.get({ owner, id }), revoked)
  assert.strictEqual(await keys.revokeAll({ owner }), 1)
  assert.strictEqual(await keys.forget({ owner }), 2)
  assert.deepStrictEqual(await keys.list({ owner }), [])
})

it("throws typed errors", async () => {
  await using keys = await createApiKeys({ memory: true })
  const owner = "ada"
  const { record: { id } } = await keys.create({ owner, name: "laptop" })
  await keys.revoke({ owner, id })
  const refusals = [
    [keys.get({ owner, id: "key_unknown" }), KeyNotFoundError, "key_not_found"],
    [keys.get({ owner: "eve", id }), KeyNotFoundError, "key_not_found"],
    [keys.roll({ owner, id, overlap: 0 }), KeyEndedError, "key_ended"],
    [keys.create({ owner: "", name: "laptop" }), OwnerInvalidError, "owner_invalid"],
    [keys.create({ owner, name: " " }), NameInvalidError, "name_invalid"],
    [keys.create({ owner, name: "laptop", scopes: [] }), TermsInvalidError, "terms_invalid"],
    [keys.create({ owner, name: "laptop", networks: ["192.0.2.0"] }), TermsInvalidError, "terms_invalid"],
    [keys.create({ owner, name: "laptop", expiresAt: new Date("never") }), TermsInvalidError, "terms_invalid"],
    [
      keys.create({ owner, name: "laptop", metadata: { a: "a".repeat(5_000) } }),
      MetadataInvalidError,
      "metadata_invalid"
    ]
  ] as const
  for (const [call, errorClass, code] of refusals) {
    const error = await errorOf(call)
    assert.isTrue(error instanceof errorClass && error instanceof ApiKeysError, code)
    assert.deepInclude(error, { code, name: errorClass.name })
    assert.notInclude(error instanceof Error ? error.message : "undefined", "undefined")
  }
})

it("throws an error without the key that a program passes as an id", async () => {
  await using keys = await createApiKeys({ memory: true })
  const { key } = await keys.create({ owner: "ada", name: "laptop" })
  const error = await errorOf(keys.revoke({ owner: "ada", id: key }))
  assert.instanceOf(error, KeyNotFoundError)
  assert.notInclude(inspect(error), key.slice(12))
  assert.deepInclude(error, { id: `${key.slice(0, 12)}…` })
})

it("rejects an invalid prefix, a transaction, and a call whose signal has aborted", async () => {
  assert.instanceOf(await errorOf(createApiKeys({ memory: true, prefix: "a b" })), TypeError)
  await using keys = await createApiKeys({ memory: true })
  const key = { owner: "ada", name: "laptop" }
  const tx = { query: () => Promise.reject(new Error("unused")) }
  assert.match(String(await errorOf(keys.create({ ...key, tx }))), /cannot join a transaction/)
  const signal = AbortSignal.abort(new Error("the request ended"))
  assert.match(String(await errorOf(keys.create({ ...key, signal }))), /the request ended/)
  assert.deepStrictEqual(await keys.list({ owner: "ada" }), [])
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using keys = await createApiKeys({ memory: true })
  const wrong = [
    ["create", { owner: "ada" }, "name of create"],
    ["create", { owner: "ada", name: "ci", expiresAt: "2030-01-01" }, "expiresAt of create"],
    ["verify", undefined, "the argument of verify"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(keys, method), keys, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
