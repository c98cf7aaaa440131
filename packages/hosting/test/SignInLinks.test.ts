import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { SignInLinks as Links } from "@kinora/http-server"
import { StorageError } from "@kinora/persistence"
import { Sessions } from "@kinora/sessions"
import { Effect, Layer, Option, Redacted } from "effect"
import * as Crypto from "../src/Crypto.ts"
import * as Http from "../src/Http.ts"
import * as Settings from "../src/Settings.ts"
import * as SignInLinks from "../src/SignInLinks.ts"

const services = Layer.mergeAll(Accounts.layerMemory, Sessions.layerMemory, Crypto.layerDigest)
const adminToken = "x".repeat(32)
const clientUrl = "https://media.example.com"
const operatorUrl = Option.some("http://127.0.0.1:4748")

/** The links of a start with these variables, and with the key of a demo account. */
const linksWith = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
  const accounts = yield* Accounts.Accounts
  const { id } = yield* accounts.create({ email: "demo@example.com" })
  const { key } = yield* accounts.createKey(id, "demo")
  const settings = yield* Settings.load(environment)
  return { id, links: yield* SignInLinks.make({ settings, clientUrl, operatorUrl, apiKey: Option.some(key) }) }
})

const grantOf = Effect.fnUntraced(function*(link: Option.Option<string>, origin: string) {
  const [page, code = ""] = Option.getOrThrow(link).split("#code=")
  assert.strictEqual(page, `${origin}/console/`)
  const { redeem } = yield* Sessions.Sessions
  return (yield* redeem(Redacted.make(code), { device: Option.none(), address: "192.0.2.1" })).session.grant
})

it.effect("lead to the demo account and to the operator of KINORA_ADMIN_TOKEN", () =>
  Effect.gen(function*() {
    const { id, links } = yield* linksWith({ KINORA_ADMIN_TOKEN: adminToken })
    assert.deepStrictEqual(yield* grantOf(links.account, clientUrl), {
      scope: "account",
      account: id,
      role: "member",
      member: null
    })
    assert.deepStrictEqual(yield* grantOf(links.operator, "http://127.0.0.1:4748"), {
      scope: "operator",
      operator: yield* Links.ownerOf(Redacted.make(adminToken)),
      role: "owner"
    })
  }).pipe(Effect.provide(services)))

it.effect("are none for what does not exist, and none without the console", () =>
  Effect.gen(function*() {
    const { links } = yield* linksWith({})
    assert.isTrue(Option.isSome(links.account))
    assert.isTrue(Option.isNone(links.operator))
    const settings = yield* Settings.load({ KINORA_ADMIN_TOKEN: adminToken })
    const off = yield* SignInLinks.make({ settings, clientUrl, operatorUrl: Option.none(), apiKey: Option.none() })
    assert.deepStrictEqual(off, SignInLinks.none)
  }).pipe(Effect.provide(services)))

it.effect("are none if the console is off", () =>
  Effect.gen(function*() {
    const { links } = yield* linksWith({ KINORA_ADMIN_TOKEN: adminToken, KINORA_CONSOLE: "false" })
    assert.deepStrictEqual(links, SignInLinks.none)
  }).pipe(Effect.provide(services)))

it.effect("do not stop a start if they cannot be created", () =>
  Effect.gen(function*() {
    const failure = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })
    const { links } = yield* Effect.provide(
      linksWith({ KINORA_ADMIN_TOKEN: adminToken }),
      Layer.mock(Sessions.Sessions)({ createCode: () => Effect.fail(failure) })
    )
    assert.deepStrictEqual(links, SignInLinks.none)
  }).pipe(Effect.provide(services)))

it.effect("of accounts lead to the listener for clients, also if operators have their own", () =>
  Effect.gen(function*() {
    const urlWith = (environment: Readonly<Record<string, string>>) =>
      Effect.map(Settings.load(environment), (settings) => Http.interfaceOf(settings).consoleUrl)
    assert.isUndefined(yield* urlWith({}))
    assert.strictEqual(yield* urlWith({ KINORA_ADMIN_PORT: "4748" }), "http://127.0.0.1:4747")
    assert.strictEqual(yield* urlWith({ KINORA_ADMIN_PORT: "4748", KINORA_BASE_URL: clientUrl }), clientUrl)
  }))
