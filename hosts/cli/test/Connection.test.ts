import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Terminal from "./Terminal.ts"

/** Runs `account list` with a profiles file, and returns what it sent and printed. */
const list = Effect.fnUntraced(function*(profiles: string, args: ReadonlyArray<string>, env = {}) {
  const fs = yield* FileSystem.FileSystem
  const home = yield* fs.makeTempDirectoryScoped()
  yield* fs.makeDirectory(`${home}/kinora`)
  yield* fs.writeFileString(`${home}/kinora/profiles.yaml`, profiles)
  const sent = new Array<string>()
  const outcome = yield* Terminal.runWith(
    ["account", "list", ...args],
    { XDG_CONFIG_HOME: home, ...env },
    async (input, init) => {
      const { headers, url } = new Request(input, init)
      sent.push(`${new URL(url).origin} ${headers.get("authorization")}`)
      return Response.json({ data: [], next_cursor: null })
    }
  )
  return { ...outcome, sent }
})

const profiles = `
default:
  url: https://kinora.example
  admin_token: secret-1
staging:
  url: https://staging.example
  admin_url: https://operators.staging.example
  admin_token: secret-2
`

it.effect("takes the URL and the token from flags, then from variables, then from a profile", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual((yield* list(profiles, [])).sent, ["https://kinora.example Bearer secret-1"])
    const staging = ["https://operators.staging.example Bearer secret-2"]
    assert.deepStrictEqual((yield* list(profiles, ["--profile", "staging"])).sent, staging)
    assert.deepStrictEqual((yield* list(profiles, [], { KINORA_PROFILE: "staging" })).sent, staging)
    const variables = { KINORA_URL: "http://a.example", KINORA_ADMIN_TOKEN: "secret-3" }
    assert.deepStrictEqual((yield* list(profiles, ["--profile", "staging"], variables)).sent, [
      "http://a.example Bearer secret-3"
    ])
    assert.deepStrictEqual((yield* list(profiles, ["--url", "http://b.example/"], variables)).sent, [
      "http://b.example Bearer secret-3"
    ])
    const separate = { ...variables, KINORA_ADMIN_URL: "http://c.example" }
    assert.deepStrictEqual((yield* list(profiles, [], separate)).sent, ["http://c.example Bearer secret-3"])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

it.effect("rejects unknown profiles and files that are not valid, without their content", () =>
  Effect.gen(function*() {
    const cases = [
      [profiles, ["--profile", "production"], "has no profile \"production\""],
      ["default: {admin_token: [secret-1]}", [], "must contain profiles"],
      ["default: {token: secret-1}", [], "must contain profiles"],
      ["default: [", [], "must contain YAML"]
    ] as const
    for (const [content, args, message] of cases) {
      const { code, errors, sent } = yield* list(content, args)
      assert.deepStrictEqual([code, sent], [1, []])
      assert.include(errors, message)
      assert.notInclude(errors, "secret-1")
    }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
