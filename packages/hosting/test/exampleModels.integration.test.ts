/** The configurations of `examples/models`: one host with all their drivers and models, against a server for each protocol. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { comfyApi, outputsOf } from "@kinora/testkit/upstreams/ComfyApiServer"
import { comfyUi } from "@kinora/testkit/upstreams/ComfyUiServer"
import { fal } from "@kinora/testkit/upstreams/FalServer"
import { kinoraServer } from "@kinora/testkit/upstreams/KinoraServer"
import { openAiImages } from "@kinora/testkit/upstreams/OpenAiImagesServer"
import { openAiVideos } from "@kinora/testkit/upstreams/OpenAiVideosServer"
import { openRouter } from "@kinora/testkit/upstreams/OpenRouterServer"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { mp4, png } from "@kinora/testkit/upstreams/Results"
import { runway } from "@kinora/testkit/upstreams/RunwayServer"
import { Deferred, Effect, Layer, Option, Redacted, Schema, type Scope } from "effect"
import { Yaml } from "effect/encoding"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DemoAccount from "../src/DemoAccount.ts"
import * as Host from "../src/Host.ts"
import * as Settings from "../src/Settings.ts"

const examples = fileURLToPath(new URL("../../../examples/models", import.meta.url))

/** A running server of a protocol, which completes every job. */
interface Upstream {
  /** Variables of the example. */
  readonly environment: Readonly<Record<string, string>>
  /** Options of the driver that replace those of the example. */
  readonly options: Readonly<Record<string, unknown>>
}

const poll_interval = "20 millis"

/** The key that the scripted server of Kinora accepts. */
const innerKey = "hunter2-hunter2"

/** The servers of the examples, by directory. */
const upstreams: Readonly<Record<string, Effect.Effect<Upstream, never, Scope.Scope>>> = {
  comfyui: Effect.gen(function*() {
    const server = yield* comfyUi
    server.after("POST /prompt", () => {
      const [prompt] = server.pending
      if (prompt !== undefined) server.finish(prompt.id, "kinora_00001_.png", png.mime, png.bytes)
    })
    return { environment: { COMFYUI_URL: server.origin }, options: { poll_interval } }
  }),
  "vllm-omni": Effect.gen(function*() {
    const server = yield* openAiVideos
    server.files.set("video", mp4)
    server.after("POST /v1/videos", () => server.change({ status: "completed", progress: 100 }))
    return { environment: { VLLM_OMNI_URL: `${server.origin}/v1` }, options: { poll_interval } }
  }),
  replicate: Effect.gen(function*() {
    const server = yield* replicate
    server.content.file = png
    server.after("POST /v1/models", () => {
      server.change({ status: "succeeded", output: [`${server.files.origin}/out-0.png`] })
    })
    return {
      environment: { REPLICATE_API_TOKEN: "token" },
      options: { base_url: `${server.origin}/v1`, private: true, poll_interval }
    }
  }),
  fal: Effect.gen(function*() {
    const server = yield* fal
    // File servers of providers often declare this type.
    server.content.file = { ...png, mime: "application/octet-stream" }
    server.result.body = { images: [{ url: `${server.files.origin}/a.png` }] }
    server.after("POST /fal-ai", () => server.change({ status: "COMPLETED" }))
    return { environment: { FAL_KEY: "key" }, options: { base_url: server.origin, private: true, poll_interval } }
  }),
  "comfy-cloud": Effect.gen(function*() {
    const server = yield* comfyApi
    server.content.file = png
    server.after("POST /api/v2/jobs", () => server.change({ status: "succeeded", outputs: outputsOf(png) }))
    return {
      environment: { COMFY_API_KEY: "key" },
      options: { base_url: server.origin, private: true, poll_interval }
    }
  }),
  openrouter: Effect.gen(function*() {
    const server = yield* openRouter
    server.content.file = mp4
    server.after("POST /api/v1/videos", () => server.change({ status: "completed" }))
    return {
      environment: { OPENROUTER_API_KEY: "key" },
      options: { base_url: `${server.origin}/api/v1`, poll_interval }
    }
  }),
  runway: Effect.gen(function*() {
    const server = yield* runway
    server.content.file = mp4
    server.after("POST /v1/", () => {
      server.change({ status: "SUCCEEDED", output: [`${server.files.origin}/a.mp4`] })
    })
    return {
      environment: { RUNWAYML_API_SECRET: "key" },
      options: { base_url: `${server.origin}/v1`, private: true, poll_interval }
    }
  }),
  openai: Effect.gen(function*() {
    const server = yield* openAiImages(png)
    return { environment: { OPENAI_API_KEY: "key" }, options: { base_url: `${server.origin}/v1` } }
  }),
  "ai-sdk": Effect.gen(function*() {
    const server = yield* openAiImages(png)
    return {
      environment: { OPENAI_API_KEY: "key" },
      options: { options: { apiKey: "key", baseURL: `${server.origin}/v1` } }
    }
  }),
  kinora: Effect.gen(function*() {
    const server = yield* kinoraServer(png)
    server.after("POST /v1/generations", () => {
      for (const job of server.all.values()) job.status = "completed"
    })
    return { environment: { INNER_URL: server.origin, INNER_API_KEY: innerKey }, options: { poll_interval } }
  })
}

const Configuration = Schema.Struct({
  drivers: Schema.Record(
    Schema.String,
    Schema.Struct({ module: Schema.String, options: Schema.Record(Schema.String, Schema.Json) })
  ),
  models: Schema.Array(Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [
    Schema.Record(Schema.String, Schema.Json)
  ]))
})

/** Reads the configuration of an example and starts its server. */
const start = Effect.fnUntraced(function*(name: string) {
  const text = yield* Effect.promise(() => readFile(join(examples, name, "kinora.config.yaml"), "utf8"))
  const { drivers, models } = yield* Schema.decodeUnknownEffect(Configuration)(Yaml.parse(text))
  const upstream = upstreams[name]
  assert.isDefined(upstream, `examples/models/${name} has a server in this test`)
  const { environment, options } = yield* upstream
  const changed = Object.entries(drivers).map(([driver, entry]) =>
    [driver, { ...entry, options: { ...entry.options, ...options } }] as const
  )
  return { environment, drivers: Object.fromEntries(changed), models }
})

const Job = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  status: Schema.String,
  error: Schema.Unknown,
  output: Schema.NullOr(Schema.Struct({ url: Schema.String, mime: Schema.String }))
})

/** Creates a job and returns it when it has ended, with the bytes of its result. */
const run = Effect.fnUntraced(function*(origin: string, key: string, model: string) {
  const ask = (path: string, init: RequestInit = {}) =>
    Effect.flatMap(
      Effect.promise(async () =>
        (await fetch(`${origin}${path}`, {
          ...init,
          headers: { "authorization": `Bearer ${key}`, "content-type": "application/json" }
        })).json()
      ),
      Schema.decodeUnknownEffect(Job)
    )
  const body = JSON.stringify({ plan: "credits", model, params: { prompt: "a lake at dawn" } })
  const { id } = yield* ask("/v1/generations", { method: "POST", body })
  const job = yield* ask(`/v1/generations/${id}?wait=60`)
  assert.strictEqual(job.status, "completed", `${model}: ${JSON.stringify(job.error)}`)
  const bytes = yield* Effect.promise(async () => (await fetch(job.output?.url ?? "")).bytes())
  return { mime: job.output?.mime, kind: job.kind, bytes }
})

it.live(
  "starts with the configuration of every example, and completes a job of every model",
  () =>
    Effect.gen(function*() {
      const names = (yield* Effect.promise(() => readdir(examples, { withFileTypes: true }))).flatMap((entry) =>
        entry.isDirectory() ? [entry.name] : []
      )
      const started = yield* Effect.forEach(names, start)
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-examples-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true }))
      )
      const path = join(directory, "kinora.config.yaml")
      // JSON is YAML.
      const content = {
        drivers: Object.assign({}, ...started.map(({ drivers }) => drivers)) as unknown,
        models: started.flatMap(({ models }) => models)
      }
      yield* Effect.promise(() => writeFile(path, JSON.stringify(content)))
      yield* TestDatabase.unpackPglite(join(directory, "data", "database"))
      const settings = yield* Settings.load({
        ...Object.assign({}, ...started.map(({ environment }) => environment)) as Upstream["environment"],
        KINORA_CONFIG: path,
        KINORA_DATA_DIR: join(directory, "data"),
        KINORA_PORT: "0"
      })
      const ready = yield* Deferred.make<readonly [origin: string, key: string]>()
      yield* Layer.build(Host.layerServer(
        settings,
        Effect.fnUntraced(function*(origin) {
          const key = Option.getOrThrow(yield* DemoAccount.ensure(settings.dataDirectory))
          yield* Deferred.succeed(ready, [origin, Redacted.value(key)])
        })
      ))
      const [origin, key] = yield* Deferred.await(ready)
      for (const { models } of started) {
        for (const { id } of models) {
          const { bytes, kind, mime } = yield* run(origin, key, id)
          const expected = kind === "image" ? png : mp4
          assert.strictEqual(mime, expected.mime, id)
          assert.deepStrictEqual(bytes, new Uint8Array(expected.bytes), id)
        }
      }
    }).pipe(Effect.scoped),
  180_000
)
