import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { GeneratorError } from "@kinora/generator"
import { Effect, FileSystem } from "effect"
import * as Inline from "../src/Inline.ts"
import * as Terminal from "./Terminal.ts"

const makeDirectory = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

it.effect("writes the result of a job to a file", () =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { host, json, text } = yield* Terminal.make()
    const file = `${yield* makeDirectory}/lake.png`
    const job = yield* json("generate", "a lake at dawn", "-o", file, "--aspect-ratio", "16:9")
    assert.deepInclude(job, { status: "completed", prompt: "a lake at dawn", file })
    const content = yield* Effect.promise(async () =>
      new Uint8Array(await (await host.fetch(`/v1/generations/${job.id}/content`)).arrayBuffer())
    )
    assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(file)), content)

    // An input image is uploaded.
    const edited = yield* json("generate", "the same in winter", "--image", file, "-o", `${file}.edited`)
    assert.strictEqual(edited.params.images.length, 1)
    assert.match(yield* text("generate", "another", "-o", file), /^gen_\S+ {2}.*lake\.png {2}\d+ credits/)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

it.effect("fails with the reason of a job that fails, and leaves no file", () =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { env, run } = yield* Terminal.make({
      script: {
        outcome: new GeneratorError.Permanent({ code: "content_rejected", reason: "safety", message: "It is unsafe." })
      }
    })
    const directory = yield* makeDirectory
    const { code, errors } = yield* run("generate", "a lake", "-o", `${directory}/lake.png`)
    assert.strictEqual(code, 1)
    assert.include(errors, "It is unsafe.")
    assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    const { KINORA_API_KEY: key, ...withoutKey } = env
    assert.notInclude(errors, key)
    assert.include((yield* Terminal.runWith(["generate", "x"], withoutKey)).errors, "KINORA_API_KEY")
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

it.effect("encodes pictures for terminals that can show them", () =>
  Effect.sync(() => {
    const base64 = Buffer.from(new Uint8Array(10_000).fill(7)).toString("base64")
    const kitty = Inline.protocolOf({ TERM: "xterm-kitty" }, "image/png")!(base64)
    const chunks = kitty.split("\u{1b}\\").slice(0, -1).map((chunk) => chunk.slice("\u{1b}_G".length).split(";"))
    assert.strictEqual(chunks.map(([, data]) => data).join(""), base64)
    assert.deepStrictEqual(chunks.map(([options]) => options), ["a=T,f=100,c=40,m=1", "m=1", "m=1", "m=0"])
    assert.include(Inline.protocolOf({ TERM_PROGRAM: "iTerm.app" }, "image/webp")!(base64), base64)
    assert.isUndefined(Inline.protocolOf({ TERM: "xterm-kitty" }, "image/webp"))
    assert.isUndefined(Inline.protocolOf({ TERM_PROGRAM: "iTerm.app" }, "video/mp4"))
    assert.isUndefined(Inline.protocolOf({ TERM: "xterm-256color" }, "image/png"))
  }))
