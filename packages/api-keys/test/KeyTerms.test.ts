import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { IpNetwork } from "effect/net"
import * as KeyTerms from "../src/KeyTerms.ts"

const at = DateTime.makeUnsafe("2026-11-21T12:00:00.000Z")
const withTerms = (terms: Partial<KeyTerms.KeyTerms>): KeyTerms.KeyTerms => ({ ...KeyTerms.unrestricted, ...terms })

it.effect("a key without terms allows everything", () =>
  Effect.sync(() => {
    assert.isFalse(KeyTerms.hasExpired(KeyTerms.unrestricted, at))
    assert.isTrue(KeyTerms.hasScope(KeyTerms.unrestricted, "generate"))
    assert.isTrue(KeyTerms.hasAddress(KeyTerms.unrestricted, Option.none()))
    assert.isUndefined(KeyTerms.problemOf(KeyTerms.unrestricted, at))
  }))

it.effect("a key expires at the millisecond", () =>
  Effect.sync(() => {
    const terms = withTerms({ expiresAt: Option.some(at) })
    assert.isFalse(KeyTerms.hasExpired(terms, DateTime.subtract(at, { milliseconds: 1 })))
    assert.isTrue(KeyTerms.hasExpired(terms, at))
  }))

it.effect("a restricted key allows its scopes only", () =>
  Effect.sync(() => {
    const terms = withTerms({ scopes: Option.some(["read"]) })
    assert.deepStrictEqual(
      ["read", "Read", "write", ""].filter((scope) => KeyTerms.hasScope(terms, scope)),
      ["read"]
    )
  }))

it.effect("a restricted key allows the addresses in its networks, in each of their forms", () =>
  Effect.sync(() => {
    const networks = ["192.0.2.0/24", "2001:db8::/32", "203.0.113.7/32"].map(IpNetwork.fromStringUnsafe)
    const allows = (address: string) =>
      KeyTerms.hasAddress(withTerms({ networks: Option.some(networks) }), Option.some(address))
    for (const address of ["192.0.2.255", "::ffff:192.0.2.1", "2001:db8:1::1", "2001:db8::1%eth0", "203.0.113.7"]) {
      assert.isTrue(allows(address), address)
    }
    for (const address of ["192.0.3.0", "::ffff:192.0.3.1", "2001:db9::1", "203.0.113.8", "localhost", ""]) {
      assert.isFalse(allows(address), address)
    }
    assert.isFalse(KeyTerms.hasAddress(withTerms({ networks: Option.some(networks) }), Option.none()))
  }))
