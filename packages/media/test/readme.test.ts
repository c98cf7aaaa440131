import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { layer, receive } from "../example/thumbs.ts"
import * as Images from "./Images.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    const image = yield* Effect.promise(() => Images.noise(512, 300).jpeg().toBuffer())
    const received = yield* receive(image, "image/jpeg")
    if (typeof received === "string") return assert.fail(received)
    assert.deepInclude(received.image, { mime: "image/jpeg", width: 512, height: 300 })
    assert.deepInclude(received.thumb, { mime: "image/webp", width: 256, height: 150 })

    const { reason } = yield* Effect.flip(receive(image, "image/png"))
    assert.strictEqual(reason._tag, "Mislabelled")
    const hollow = Images.hollowPng(100_000, 100_000, Buffer.alloc(9))
    assert.strictEqual(yield* receive(hollow, "image/png"), "100000 x 100000 is too large")
  }).pipe(Effect.provide(layer)))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/thumbs.ts"))
  }))
