import { assert, it } from "@effect/vitest"
import { Duration, Effect, Option, Result, Schema } from "effect"
import * as Catalog from "../src/Catalog.ts"
import * as DefaultModels from "../src/DefaultModels.ts"
import { formatPath } from "../src/Issue.ts"
import * as Model from "../src/Model.ts"
import { film } from "./models.ts"

const issuesOf = (models: unknown): ReadonlyArray<string> =>
  Result.match(Catalog.parse(models), {
    onFailure: ({ issues }) => issues.map(({ message, path }) => `${formatPath(path)}: ${message}`),
    onSuccess: () => []
  })

/** The problems of the film model with these changes. */
const withChanges = (changes: Readonly<Record<string, unknown>>) => issuesOf([{ ...film, ...changes }])

const withParam = (param: unknown) => withChanges({ params_schema: [...film.params_schema, param] })

it.effect("finds every model, and lists available and withdrawn ones separately", () =>
  Effect.gen(function*() {
    const { find, list, withdrawn } = yield* Catalog.Catalog
    assert.deepStrictEqual(list.map(({ id, status }) => [id, status]), [
      ["kinora-still", "available"],
      ["kinora-motion", "available"],
      ["kinora-draft", "available"],
      ["film-1", "paused"]
    ])
    assert.deepStrictEqual(withdrawn.map(({ id }) => id), ["old-1"])
    assert.strictEqual(Option.getOrThrow(find("old-1")).status, "withdrawn")
    assert.isTrue(Option.isNone(find("other")))
  }).pipe(
    Effect.provide(Catalog.layer([
      ...DefaultModels.models,
      { ...film, status: "paused" },
      { ...film, id: "old-1", status: "withdrawn" }
    ]))
  ))

it.effect("finds a model by its aliases, with their defaults", () =>
  Effect.gen(function*() {
    const { find, list, withdrawn } = yield* Catalog.Catalog
    const defaultsOf = (id: string) =>
      Option.getOrThrow(find(id)).params_schema.map(({ default: value }) => value).slice(0, 4)
    assert.deepStrictEqual(defaultsOf("film-1"), [5, "720p", true, undefined])
    assert.deepStrictEqual(defaultsOf("film-long"), [12, "720p", false, 7])
    assert.deepStrictEqual(defaultsOf("film-0"), [5, "720p", true, undefined])
    for (const id of ["film-long", "film-0"]) assert.strictEqual(Option.getOrThrow(find(id)).id, "film-1")
    assert.deepStrictEqual(list.map(Model.ids), [["film-1", "film-long", "film-0"]])
    assert.strictEqual(Option.getOrThrow(find("older")).status, "withdrawn")
    assert.deepStrictEqual(withdrawn.map(({ id }) => id), ["old-1"])
  }).pipe(
    Effect.provide(Catalog.layer([
      { ...film, aliases: [{ id: "film-long", defaults: { duration: 12, audio: false, seed: 7 } }, { id: "film-0" }] },
      { ...film, id: "old-1", status: "withdrawn", aliases: [{ id: "older" }] }
    ]))
  ))

it("rejects aliases that another model has, and defaults that the model does not accept", () => {
  assert.deepStrictEqual(
    issuesOf([
      { ...film, aliases: [{ id: "film-1" }, { id: "a" }] },
      { ...film, id: "a", aliases: [{ id: "b" }, { id: "b" }] },
      { ...film, id: "b" }
    ]),
    [
      "[0].aliases[0].id: must be unique, but models[0].id is the same",
      "[1].id: must be unique, but models[0].aliases[1].id is the same",
      "[1].aliases[1].id: must be unique, but models[1].aliases[0].id is the same",
      "[2].id: must be unique, but models[1].aliases[0].id is the same"
    ]
  )
  assert.deepStrictEqual(withChanges({ aliases: [{ id: "c", defaults: { duration: 13, style: "ink" } }] }), [
    "[0].aliases[0].defaults.duration: must be at most 12",
    "[0].aliases[0].defaults.style: must be a parameter of the model"
  ])
  const many = Array.from({ length: 17 }, (_, index) => ({ id: `c${index}` }))
  assert.strictEqual(withChanges({ aliases: many }).length, 1)
})

it.effect("fails with the paths of all problems", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(Effect.asVoid(Effect.provide(
      Catalog.Catalog,
      Catalog.layer([
        film,
        { ...film, max_prompt_chars: 0 }
      ])
    )))
    assert.strictEqual(
      error.message,
      [
        "2 problems in the configuration of models",
        "  models[1].max_prompt_chars: Expected a value between 1 and 100000",
        "  models[1].id: must be unique, but models[0].id is the same"
      ].join("\n")
    )
  }))

it("fills in defaults of a configuration", () => {
  const [model] = Result.getOrThrow(Catalog.parse([film]))
  assert.strictEqual(model?.status, "available")
  assert.strictEqual(model?.studio_eligible, false)
  assert.strictEqual(model?.response_format, "url")
  assert.deepStrictEqual(model?.driver, { name: "test", options: {}, fallbacks: [] })
  assert.deepStrictEqual(model?.time_limit, Duration.minutes(10))
})

it("lists every problem of every model", () => {
  assert.sameMembers(
    issuesOf([
      { ...film, kind: "sound", extra: 1 },
      3,
      { ...film, id: "UPPER" },
      { ...film, id: "b", time_limit: "0 seconds", output_formats: ["image/png"] }
    ]).map((issue) => issue.split(":")[0]),
    ["[0].extra", "[0].kind", "[1]", "[2].id", "[3].output_formats[0]", "[3].time_limit"]
  )
})

it("rejects parameters that clients cannot set, and those of another type", () => {
  const params = { duration: "string", resolution: "string", audio: "boolean", seed: "int" } as const
  const result = Catalog.parse([film], { params })
  assert.deepStrictEqual(Result.isFailure(result) ? result.failure.message.split("\n").slice(1) : [], [
    "  models[0].params_schema[0].type: must be string, since clients send duration as string",
    "  models[0].params_schema[4].name: must be one of the parameters that clients can set: " +
    "duration, resolution, audio, seed"
  ])
  assert.isTrue(Result.isSuccess(Catalog.parse([film], { params: { ...params, duration: "int", speed: "int" } })))
})

it("rejects a configuration that is not a list, or too long", () => {
  assert.deepStrictEqual(issuesOf({}), [": must be a list of models"])
  assert.deepStrictEqual(issuesOf(Array.from({ length: 201 }, () => film)), [": must have at most 200 models"])
})

it("rejects modes, formats and images of another kind", () => {
  assert.deepStrictEqual(withChanges({ kind: "image" }), [
    "[0].capabilities[0]: must be a mode of kind image",
    "[0].capabilities[1]: must be a mode of kind image",
    "[0].output_formats[0]: must be a media type image/…"
  ])
  assert.deepStrictEqual(withChanges({ max_reference_images: 0 }), [
    "[0].max_reference_images: must be at least 1, since a mode requires input images"
  ])
  assert.deepStrictEqual(withChanges({ capabilities: ["text_to_video"] }), [
    "[0].max_reference_images: must be 0, since no mode accepts input images"
  ])
})

it("rejects invalid parameters", () => {
  const at = "[0].params_schema[5]"
  assert.deepStrictEqual(withParam({ name: "prompt", type: "boolean" }), [
    `${at}.name: must not be prompt, which every job has`
  ])
  assert.deepStrictEqual(withParam({ name: "seed", type: "boolean" }), [
    `${at}.name: must be unique, but params_schema[3] has the same`
  ])
  assert.deepStrictEqual(withParam({ name: "a", type: "string" }), [`${at}.values: must be given for a string`])
  assert.deepStrictEqual(withParam({ name: "a", type: "int" }), [
    `${at}.min: must be given for an int without values`,
    `${at}.max: must be given for an int without values`
  ])
  assert.deepStrictEqual(withParam({ name: "a", type: "int", min: 2, max: 1 }), [`${at}.max: must not be below min`])
  assert.deepStrictEqual(withParam({ name: "a", type: "boolean", min: 0, max: 1 }), [
    `${at}.min: must be absent, since only an int has it`,
    `${at}.max: must be absent, since only an int has it`
  ])
  assert.deepStrictEqual(withParam({ name: "a", type: "int", min: 1, values: [0, 2, 2, "3"] }), [
    `${at}.values[0]: must be at least 1`,
    `${at}.values[3]: must be a whole number`,
    `${at}.values[2]: must not be listed twice`
  ])
  assert.deepStrictEqual(withParam({ name: "a", type: "string", values: ["x", "y"], default: "z" }), [
    `${at}.default: must be one of x, y`
  ])
  assert.deepStrictEqual(withParam({ name: "a", type: "int", min: 1, max: 5, default: 6 }), [
    `${at}.default: must be at most 5`
  ])
})

it("rejects price rows that no job can match", () => {
  const rows = [{ other: 1 }, { resolution: "4k" }, { duration: 13 }, { mode: "text_to_image" }]
  assert.deepStrictEqual(
    withChanges({ price_table: [...film.price_table, ...rows.map((params) => ({ params, credits: 1 }))] }),
    [
      "[0].price_table[4].params.other: must be a parameter of the model",
      "[0].price_table[5].params.resolution: must be one of 720p, 1080p",
      "[0].price_table[6].params.duration: must be at most 12",
      "[0].price_table[7].params.mode: must be one of text_to_video, image_to_video"
    ]
  )
})

it("rejects parameters that allow a job without a price", () => {
  const priced = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
    withChanges({ price_table: rows.map((params) => ({ params, credits: 1 })) })
  assert.deepStrictEqual(priced([{ resolution: "720p" }]), [
    "[0].price_table: must have a row for resolution=1080p"
  ])
  assert.deepStrictEqual(priced([{ audio: true }]), ["[0].price_table: must have a row for audio=false"])
  assert.deepStrictEqual(priced([{ duration: 2 }, { duration: 3 }]), [
    "[0].price_table: must have a row for duration=4"
  ])
  assert.deepStrictEqual(priced([{ mode: "text_to_video" }]), [
    "[0].price_table: must have a row for mode=image_to_video"
  ])
  // A parameter without a default may be absent.
  assert.deepStrictEqual(priced([{ seed: 1 }]), [
    "[0].price_table: must have a row for seed=0",
    "[0].price_table: must have a row for every job"
  ])
  const all = Array.from({ length: 11 }, (_, index) => ({ duration: index + 2 }))
  assert.deepStrictEqual(priced(all), [])
})

it("rejects ambiguous prices", () => {
  const twice = { price_table: [{ params: {}, credits: 1 }, { params: {}, credits: 2 }] }
  assert.deepStrictEqual(withChanges(twice), ["[0].price_table: must not have 2 equally specific rows for every job"])
  const crossing = [{}, { duration: 12 }, { resolution: "1080p" }].map((params) => ({ params, credits: 1 }))
  assert.deepStrictEqual(withChanges({ price_table: crossing }), [
    "[0].price_table: must not have 2 equally specific rows for duration=12, resolution=1080p"
  ])
})

it("limits the combinations that it checks and reports", () => {
  const values = Array.from({ length: 200 }, (_, index) => `v${index}`)
  const params_schema = ["a", "b"].map((name) => ({ name, type: "string", default: "v0", values }))
  const price_table = [{ params: { a: "v0", b: "v0" }, credits: 1 }]
  assert.deepStrictEqual(withChanges({ params_schema, price_table }), [
    "[0].price_table: must distinguish at most 10000 combinations of parameters, but distinguishes 40000"
  ])
  const one = withChanges({
    params_schema: params_schema.slice(0, 1),
    price_table: [{ params: { a: "v0" }, credits: 1 }]
  })
  assert.strictEqual(one.length, 11)
  assert.strictEqual(one.at(-1), "[0].price_table: has 189 more combinations without a unique price")
})

it.effect.prop(
  "returns models or problems with paths for any JSON",
  [Schema.Json],
  ([input]) =>
    Effect.sync(() => {
      assert.isTrue(Result.isSuccess(Catalog.parse(input)) ? Array.isArray(input) : issuesOf(input).length > 0)
    })
)

const Change = Schema.Struct({
  field: Schema.Literals([
    "kind",
    "capabilities",
    "params_schema",
    "price_table",
    "time_limit",
    "max_prompt_chars",
    "driver"
  ]),
  value: Schema.Json
})

it.effect.prop(
  "rejects any field that is replaced by other JSON, or accepts it as valid",
  [Change],
  ([{ field, value }]) =>
    Effect.sync(() => {
      const result = Catalog.parse([{ ...film, [field]: value }])
      if (Result.isFailure(result)) assert.isTrue(result.failure.issues.every(({ path }) => path[0] === 0))
      else assert.strictEqual(result.success.length, 1)
    })
)
