import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { UploadId } from "../src/Generation.ts"
import { type ImageSource, parse } from "../src/internal/create/imageSources.ts"
import { png } from "./Pictures.ts"

const bytesMax = 300

/** Parses an image as the second of a request. */
const parsed = (image: unknown) => Effect.result(parse(image, 1, bytesMax))

/** Checks the sources of images, each parsed as the second of a request. */
const expectSources = Effect.fnUntraced(function*(expected: ReadonlyArray<readonly [unknown, ImageSource]>) {
  for (const [image, source] of expected) {
    assert.deepStrictEqual(yield* parsed(image), Result.succeed(source))
  }
})

/** Returns the refusal of an image as the second of a request, with its index. */
const refusalOf = Effect.fnUntraced(function*(image: unknown) {
  const refusal = yield* Effect.flip(parse(image, 1, bytesMax))
  return [refusal._tag, "index" in refusal ? refusal.index : undefined]
})

const upload = "upl_01jd0000000000000000000000"

it.effect("parses data and uploads, with and without a declared type", () => {
  const data = (declared: string | undefined): ImageSource => ({ _tag: "Data", base64: png, declared })
  return expectSources([
    [{ data: png }, data(undefined)],
    [{ data: png, mime: "image/png" }, data("image/png")],
    [{ data: `data:image/png;base64,${png}` }, data("image/png")],
    [{ data: `data:image/PNG;x=y;base64,${png}`, mime: "image/png" }, data("image/png")],
    [{ data: `data:;base64,${png}` }, data(undefined)],
    [{ upload_id: upload }, { _tag: "Upload", id: UploadId.parse(upload)!, declared: undefined }]
  ])
})

const refused: Readonly<Record<string, unknown>> = {
  "is not an object": png,
  "is null": null,
  "has neither data nor upload": {},
  "has both": { data: png, upload_id: upload },
  "has an unknown property": { data: png, url: "https://example.com/a.png" },
  "has data that is not a string": { data: 4 },
  "has a type that is not a string": { data: png, mime: 4 },
  "has an upload id that is not a string": { upload_id: 4 },
  "is empty": { data: "" },
  "has an invalid length for base64": { data: png.slice(0, -1) },
  "has characters that are not base64": { data: `${png.slice(0, -4)}-_==` },
  "has line breaks": { data: `${png.slice(0, 40)}\r\n\r\n${png.slice(40)}` },
  "has padding in the middle": { data: `AA==${png}` },
  "is a data URL in another encoding": { data: "data:image/png,%89PNG" },
  "is a data URL without data": { data: "data:image/png;base64" },
  "is a data URL of a type that is not declared": { data: `data:image/png;base64,${png}`, mime: "image/jpeg" },
  "exceeds the maximum length": { data: "A".repeat(404) }
}

for (const [why, image] of Object.entries(refused)) {
  it.effect(`refuses an image that ${why} before anything is decoded`, () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* refusalOf(image), ["InvalidImage", 1])
    }))
}

it.effect("accepts an image of the maximum length", () => {
  const base64 = "A".repeat(400)
  return expectSources([[{ data: base64 }, { _tag: "Data", base64, declared: undefined }]])
})

it.effect("refuses a long image because of its last character", () =>
  Effect.gen(function*() {
    const long = "A".repeat(600_000)
    const refusal = yield* Effect.flip(parse({ data: `${long.slice(0, -4)}AA-=` }, 0, 10 ** 6))
    assert.strictEqual(refusal._tag, "InvalidImage")
    const source = yield* parse({ data: long }, 0, 10 ** 6)
    assert.deepStrictEqual(source, { _tag: "Data", base64: long, declared: undefined })
  }))

it.effect("does not find an upload with a malformed id", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* refusalOf({ upload_id: "upl_x" }), ["UploadNotFound", 1])
  }))
