import { assert, it } from "@effect/vitest"
import { Moderation as Port } from "@kinora/moderation"
import { Effect, Layer, Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Moderation from "../src/Moderation.ts"

const environment = Redacted.make({ SECRET: "whsec_0123456789abcdef", SHORT: "short-secret" })

const fromFile = (content: unknown) => Moderation.fromFile({ content, directory: "/", environment })

const problemsOf = (content: unknown) => Effect.map(Effect.flip(fromFile(content)), ({ problems }) => problems)

const input: Port.Input = { id: "gen_1", account: "acct_1", model: "still", prompt: "a lake", images: [] }

it.live("the hook of the file is asked", () =>
  Effect.gen(function*() {
    const server = createServer((_, response) => void response.end(JSON.stringify({ verdict: "reject" })))
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () => Effect.promise(() => once(server.close(), "close"))
    )
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { layer } = yield* fromFile({ hook: { url, secret: { env: "SECRET" }, private: true } })
    const verdict = yield* Effect.provide(Port.Moderation.use(({ checkInput }) => checkInput(input)), layer)
    assert.deepStrictEqual(verdict, Port.rejected("safety"))
  }))

it.effect("without the key, everything is accepted", () =>
  Effect.gen(function*() {
    const { layer, rules } = yield* Moderation.fromFile(undefined)
    assert.isNull(rules)
    const verdict = yield* Effect.provide(Port.Moderation.use(({ checkInput }) => checkInput(input)), layer)
    assert.deepStrictEqual(verdict, Port.accepted)
  }))

it.effect("the options of OpenAI have defaults, except for the key", () =>
  Effect.gen(function*() {
    yield* Layer.build((yield* fromFile({ openai: { api_key: { env: "SECRET" } } })).layer)
    assert.deepStrictEqual(yield* problemsOf({ openai: {} }), [
      { path: "moderation.openai.api_key", message: "must be given" }
    ])
  }))

it.effect("the rules that hosts compare contain no secret", () =>
  Effect.gen(function*() {
    const url = "https://moderation.example.com/"
    const { rules } = yield* fromFile({ hook: { url, secret: { env: "SECRET" }, on_failure: "accept" } })
    assert.deepStrictEqual(rules, { hook: { url, on_failure: "accept" } })
  }))

it.effect("invalid options stop the start with every problem and without secrets", () =>
  Effect.gen(function*() {
    const one = [{ path: "moderation", message: "must have one of the keys hook and openai" }]
    for (const content of [{}, "hook", [], { hook: {}, openai: {} }, { other: {} }, { toString: {} }]) {
      assert.deepStrictEqual(yield* problemsOf(content), one)
    }
    assert.deepStrictEqual(yield* problemsOf({ hook: { secret: { env: "MISSING" } } }), [
      { path: "moderation.hook.secret", message: "must be set: the environment has no variable MISSING" }
    ])
    const problems = yield* problemsOf({
      hook: { url: "here", secret: { env: "SHORT" }, on_failure: "maybe", urls: 1 }
    })
    assert.sameMembers(problems.map(({ path }) => path), [
      "moderation.hook.url",
      "moderation.hook.secret",
      "moderation.hook.on_failure",
      "moderation.hook.urls"
    ])
    assert.notInclude(JSON.stringify(problems), "short-secret")
    assert.deepStrictEqual(yield* problemsOf({ hook: { url: "http://example.com/", secret: { env: "SECRET" } } }), [
      { path: "moderation.hook", message: "must be an https URL, unless private is true" }
    ])
  }))
