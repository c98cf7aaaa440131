/** The page that a start prints. */
import { assert, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Settings, SignInLinks } from "@kinora/hosting"
import { Effect, Option, Redacted } from "effect"
import * as banner from "../src/banner.ts"

const { draft, motion, still } = DefaultModels

/** Body of the request in the example of a start with these models. `undefined` without an example. */
const exampleOf = Effect.fnUntraced(function*(models: ReadonlyArray<Model.ModelInput>, key: string | null = "kin_1") {
  const page = banner.page({
    baseUrl: "http://127.0.0.1:4747",
    operatorUrl: Option.none(),
    apiKey: Option.map(Option.fromNullOr(key), (text) => Redacted.make(text)),
    signInLinks: SignInLinks.none,
    isConsoleBuilt: true,
    models: yield* Effect.fromResult(Catalog.parse(models))
  }, yield* Settings.load({}))
  return /-d '(.*)'/.exec(page)?.[1]
})

const request = (plan: string, model: string) =>
  `{"plan":"${plan}","model":"${model}","params":{"prompt":"a lake at dawn"}}`

it.effect("shows a request for the first model that makes images from text", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* exampleOf(DefaultModels.models), request("credits", "kinora-still"))
    const paused = { ...still, status: "paused" } as const
    const fromImages = { ...still, id: "redraw-1", capabilities: ["image_to_image"] } as const
    assert.strictEqual(yield* exampleOf([paused, fromImages, motion, draft]), request("studio", "kinora-draft"))
  }))

it.effect("shows a request for a video if no model makes images", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* exampleOf([motion]), request("studio", "kinora-motion"))
  }))

it.effect("shows no request without a key, and without a model that starts from text", () =>
  Effect.gen(function*() {
    assert.isUndefined(yield* exampleOf(DefaultModels.models, null))
    assert.isUndefined(yield* exampleOf([{ ...motion, capabilities: ["image_to_video"] }]))
  }))

it.effect("shows the sign-in links in the page only, none if nobody reads it, and no address of a console that is not built", () =>
  Effect.gen(function*() {
    const pageOf = Effect.fnUntraced(function*(
      signInLinks: SignInLinks.StartLinks,
      environment: Readonly<Record<string, string>> = {},
      isConsoleBuilt = true
    ) {
      const ready = {
        baseUrl: "http://127.0.0.1:4747",
        operatorUrl: Option.none(),
        apiKey: Option.none(),
        signInLinks,
        isConsoleBuilt,
        models: []
      }
      assert.notInclude(JSON.stringify(banner.json(ready)), "code")
      return banner.page(ready, yield* Settings.load(environment))
    })
    const links = {
      account: Option.some("http://127.0.0.1:4747/console/#code=1"),
      operator: Option.some("http://127.0.0.1:4747/console/#code=2")
    }
    const page = yield* pageOf(links)
    assert.include(page, "http://127.0.0.1:4747/console/#code=1 (demo account)")
    assert.include(page, "http://127.0.0.1:4747/console/#code=2 (operator)")
    assert.include(yield* pageOf(SignInLinks.none), "Console    http://127.0.0.1:4747/console/ (links: ")
    assert.include(yield* pageOf(SignInLinks.none, { KINORA_CONSOLE: "false" }), "Console    off")
    // As after `npm ci --omit=dev`, where every page of the console returns 503.
    const unbuilt = yield* pageOf(SignInLinks.none, {}, false)
    assert.include(unbuilt, "Console    not built: run `npm run build -w @kinora/console`")
    assert.notInclude(unbuilt, "/console/")
  }))

it.effect("shows how a first account is created if there is no demo account", () =>
  Effect.gen(function*() {
    const keyOf = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
      const page = banner.page({
        baseUrl: "http://127.0.0.1:4747",
        operatorUrl: Option.none(),
        apiKey: Option.none(),
        signInLinks: SignInLinks.none,
        models: [],
        isConsoleBuilt: true
      }, yield* Settings.load({ KINORA_DEMO_ACCOUNT: "false", ...environment }))
      return /API key +(.*)/.exec(page)?.[1]
    })
    assert.strictEqual(
      yield* keyOf({}),
      "none: set KINORA_ADMIN_TOKEN, and create an account (kinora account create)"
    )
    assert.strictEqual(
      yield* keyOf({ KINORA_ADMIN_TOKEN: "a".repeat(32) }),
      "none: create an account (kinora account create)"
    )
  }))

it("joins the output of several processes", () => {
  const ready = (pid: number, operator_url: string | null) => ({
    pid,
    page: `page of ${pid}\n`,
    json: { operator_url, api_key: "kin_1" }
  })
  const { json, page } = banner.join([ready(41, "http://127.0.0.1:4748"), ready(42, "http://127.0.0.1:4749")])
  assert.strictEqual(
    page,
    "page of 41\n\n  2 processes, by id:\n\n    41   http://127.0.0.1:4748\n    42   http://127.0.0.1:4749\n"
  )
  assert.deepStrictEqual(json, {
    operator_url: "http://127.0.0.1:4748",
    api_key: "kin_1",
    processes: [{ pid: 41, operator_url: "http://127.0.0.1:4748" }, { pid: 42, operator_url: "http://127.0.0.1:4749" }]
  })
  assert.include(banner.join([ready(41, null), ready(42, null)]).page, "\n    41\n    42\n")
})
