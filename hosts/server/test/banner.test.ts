/** The page that a start prints. */
import { assert, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Settings } from "@kinora/hosting"
import { Effect, Option, Redacted } from "effect"
import * as banner from "../src/banner.ts"

const { draft, motion, still } = DefaultModels

/** Body of the request in the example of a start with these models. `undefined` without an example. */
const exampleOf = Effect.fnUntraced(function*(models: ReadonlyArray<Model.ModelInput>, key: string | null = "kin_1") {
  const page = banner.page({
    baseUrl: "http://127.0.0.1:4747",
    operatorUrl: Option.none(),
    apiKey: Option.map(Option.fromNullOr(key), (text) => Redacted.make(text)),
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
