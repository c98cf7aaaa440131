import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import type { Issue } from "../src/Issue.ts"
import * as Model from "../src/Model.ts"
import * as Parameters from "../src/Parameters.ts"
import * as Price from "../src/Price.ts"
import { draftModel, film, filmModel, parseOne, stillModel } from "./models.ts"

const models = [filmModel, stillModel, draftModel]

const issuesOf = (model: Model.Model, params: unknown): ReadonlyArray<Issue> =>
  Result.match(Parameters.resolve(model, params), { onFailure: (issues) => issues, onSuccess: () => [] })

const only = (model: Model.Model, params: unknown) => {
  const issues = issuesOf(model, params)
  assert.strictEqual(issues.length, 1, JSON.stringify(issues))
  return [issues[0]!.path.join("."), issues[0]!.message]
}

/** Whether there is something at the path, or an object or list that it could be in. */
const pointsInto = (input: unknown, path: Issue["path"]): boolean => {
  const [key, ...rest] = path
  if (key === undefined) return true
  if (typeof input !== "object" || input === null) return false
  const inner = Object.entries(input).find(([name]) => name === String(key))
  return inner === undefined ? rest.length === 0 : pointsInto(inner[1], rest)
}

// Likely and unlikely values of names that mean something, besides arbitrary ones.
const Name = Schema.Literals([
  "prompt",
  "mode",
  "images",
  "aspect_ratio",
  "resolution",
  "duration",
  "audio",
  "seed",
  "speed",
  "__proto__",
  "constructor",
  "toString",
  "other"
])
const Value = Schema.Union([
  Schema.Literals(["a prompt", "", "1:1", "2k", "1080p", "text_to_image", "image_to_video", 12, 2, 30, 0, true, false]),
  Schema.Null,
  Schema.Array(Schema.Int).check(Schema.isMaxLength(6)),
  Schema.Json
])
const Entries = Schema.Array(Schema.Tuple([Name, Value])).check(Schema.isMaxLength(12))

/** As JSON.parse makes it: `__proto__` is a name like any other. */
const objectOf = (entries: typeof Entries.Type): unknown =>
  JSON.parse(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`)

const promptOf = (codePoint: string, count: number) => ({ prompt: codePoint.repeat(count) })

describe("resolve", () => {
  it.effect.prop("returns problems with paths for any JSON", [Schema.Json], ([input]) =>
    Effect.sync(() => {
      for (const model of models) {
        assert.isTrue(issuesOf(model, input).every(({ path }) => pointsInto(input, path)))
      }
    }))

  it.effect.prop("returns problems, or parameters with a price", [Entries], ([entries]) =>
    Effect.sync(() => {
      const input = objectOf(entries)
      for (const model of models) {
        const result = Parameters.resolve(model, input)
        if (Result.isFailure(result)) {
          assert.isNotEmpty(result.failure)
          assert.isTrue(result.failure.every(({ path }) => pointsInto(input, path)))
        } else {
          assert.isAbove(Price.of(model, result.success), 0)
          assert.include(model.capabilities, result.success.mode)
        }
      }
    }))

  it.effect.prop("resolves resolved parameters to themselves", [Entries], ([entries]) =>
    Effect.sync(() => {
      const input = objectOf([["prompt", "a prompt"], ...entries])
      for (const model of models) {
        const result = Parameters.resolve(model, input)
        if (Result.isFailure(result)) continue
        const { mode, params, prompt } = result.success
        const images = Model.modes[mode].takesImages ? [{}] : []
        assert.deepStrictEqual(Parameters.resolve(model, { ...params, prompt, mode, images }), result)
      }
    }))

  it("fills in defaults, and leaves parameters without a default absent", () => {
    assert.deepStrictEqual(Result.getOrThrow(Parameters.resolve(filmModel, { prompt: "x" })), {
      kind: "video",
      mode: "text_to_video",
      prompt: "x",
      params: { duration: 5, resolution: "720p", audio: true, speed: 24 }
    })
  })

  it("returns all problems, not only the first", () => {
    const issues = issuesOf(filmModel, {
      prompt: " ",
      mode: "text_to_image",
      images: [{}, {}, {}],
      duration: 1,
      resolution: "4k",
      audio: "yes",
      seed: 101,
      speed: 25,
      other: 1
    })
    assert.deepStrictEqual(issues.map(({ path }) => path[0]), [
      "other",
      "prompt",
      "images",
      "mode",
      "duration",
      "resolution",
      "audio",
      "seed",
      "speed"
    ])
  })

  it("states the allowed values", () => {
    assert.deepStrictEqual(only(filmModel, { prompt: "x", duration: 1 }), ["duration", "must be at least 2"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", duration: 13 }), ["duration", "must be at most 12"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", duration: 2.5 }), ["duration", "must be a whole number"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", duration: "5" }), ["duration", "must be a whole number"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", duration: null }), ["duration", "must be a whole number"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", speed: 25 }), ["speed", "must be one of 24, 30"])
    assert.deepStrictEqual(only(filmModel, { prompt: "x", audio: 1 }), ["audio", "must be true or false"])
    assert.deepStrictEqual(only(stillModel, { prompt: "x", resolution: 2 }), ["resolution", "must be a string"])
    assert.deepStrictEqual(only(stillModel, []), ["", "must be an object"])
  })

  it("counts the length of a prompt in code points", () => {
    assert.deepStrictEqual(issuesOf(filmModel, promptOf("x", 10)), [])
    assert.deepStrictEqual(issuesOf(filmModel, promptOf("\u{1f3a8}", 10)), [])
    const tooLong = ["prompt", "must have at most 10 characters"]
    assert.deepStrictEqual(only(filmModel, promptOf("x", 11)), tooLong)
    assert.deepStrictEqual(only(filmModel, promptOf("\u{1f3a8}", 11)), tooLong)
    assert.deepStrictEqual(only(filmModel, promptOf("\u{1f3a8}", 1_000_000)), tooLong)
  })

  it("rejects prompts that are missing, empty or not text", () => {
    assert.deepStrictEqual(only(filmModel, {}), ["prompt", "must be a string"])
    assert.deepStrictEqual(only(filmModel, { prompt: 1 }), ["prompt", "must be a string"])
    assert.deepStrictEqual(only(filmModel, { prompt: "\n\t " }), ["prompt", "must not be empty"])
    for (const prompt of ["a\0", "\ud800"]) {
      assert.deepStrictEqual(
        only(filmModel, { prompt }),
        ["prompt", "must be Unicode text without the character U+0000"]
      )
    }
  })

  it("derives the mode from kind and images", () => {
    const modeOf = (model: Model.Model, images: unknown) =>
      Result.getOrThrow(Parameters.resolve(model, { prompt: "x", images })).mode
    assert.strictEqual(Result.getOrThrow(Parameters.resolve(stillModel, { prompt: "x" })).mode, "text_to_image")
    assert.strictEqual(modeOf(stillModel, []), "text_to_image")
    assert.strictEqual(modeOf(stillModel, null), "text_to_image")
    assert.strictEqual(modeOf(stillModel, [{}]), "image_to_image")
    assert.strictEqual(modeOf(filmModel, null), "text_to_video")
    assert.strictEqual(modeOf(filmModel, [{}]), "image_to_video")
  })

  it("rejects images and modes that do not match each other or the model", () => {
    const textOnly = parseOne({
      ...film,
      capabilities: ["text_to_video"],
      max_reference_images: 0,
      price_table: [{ params: {}, credits: 1 }]
    })
    const imageOnly = parseOne({ ...film, capabilities: ["image_to_video"] })
    const x = { prompt: "x" }
    assert.deepStrictEqual(only(textOnly, { ...x, images: [{}] }), [
      "images",
      "must be absent: this model accepts no images"
    ])
    assert.deepStrictEqual(issuesOf(textOnly, { ...x, mode: "image_to_video", images: [{}] }), [
      { path: ["images"], message: "must be absent: this model accepts no images" },
      { path: ["mode"], message: "must be one of text_to_video" }
    ])
    assert.deepStrictEqual(only(imageOnly, x), ["images", "must have an image"])
    assert.deepStrictEqual(only(filmModel, { ...x, mode: "image_to_video" }), [
      "images",
      "must have an image in mode image_to_video"
    ])
    assert.deepStrictEqual(
      only(filmModel, { ...x, mode: "text_to_video", images: [{}] }),
      ["images", "must be absent in mode text_to_video"]
    )
    assert.deepStrictEqual(only(filmModel, { ...x, images: [{}, {}, {}] }), ["images", "must have at most 2 images"])
    assert.deepStrictEqual(only(filmModel, { ...x, images: {} }), ["images", "must be a list"])
    assert.deepStrictEqual(only(filmModel, { ...x, mode: null }), [
      "mode",
      "must be one of text_to_video, image_to_video"
    ])
  })

  it("ignores inherited properties", () => {
    assert.deepStrictEqual(issuesOf(filmModel, Object.create({ prompt: "x" }))[0]?.path, ["prompt"])
    assert.deepStrictEqual(
      issuesOf(filmModel, JSON.parse(`{"prompt": "x", "__proto__": {"duration": 12}}`)).map(({ path }) => path),
      [["__proto__"]]
    )
  })

  it("limits the number of issues", () => {
    const names = Array.from({ length: 500 }, (_, index) => [`name${index}`, 1])
    const issues = issuesOf(filmModel, { prompt: "x", ...Object.fromEntries(names) })
    assert.strictEqual(issues.length, Parameters.issuesMax)
    assert.deepStrictEqual(issues.at(-1), { path: [], message: "has 401 more problems" })
  })
})
