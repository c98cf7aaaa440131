import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { UploadId } from "../src/Generation.ts"
import { type ImageSource, parse } from "../src/internal/create/imageSources.ts"
import { png } from "./Pictures.ts"

const bytesMax = 300

/** Parses an image as the second of a request. */
const sourceOf = (image: unknown): ImageSource | undefined => Result.getOrUndefined(parse(image, 1, bytesMax))

/** Returns the refusal of an image as the second of a request, with its index. */
const refusalOf = (image: unknown) =>
  Result.match(parse(image, 1, bytesMax), {
    onSuccess: () => [],
    onFailure: (refusal) => [refusal._tag, "index" in refusal ? refusal.index : undefined]
  })

const upload = "upl_01jd0000000000000000000000"

it("parses data and uploads, with and without a declared type", () => {
  const data = (declared: string | undefined): ImageSource => ({ _tag: "Data", base64: png, declared })
  assert.deepStrictEqual(sourceOf({ data: png }), data(undefined))
  assert.deepStrictEqual(sourceOf({ data: png, mime: "image/png" }), data("image/png"))
  assert.deepStrictEqual(sourceOf({ data: `data:image/png;base64,${png}` }), data("image/png"))
  assert.deepStrictEqual(sourceOf({ data: `data:image/PNG;x=y;base64,${png}`, mime: "image/png" }), data("image/png"))
  assert.deepStrictEqual(sourceOf({ data: `data:;base64,${png}` }), data(undefined))
  assert.deepStrictEqual(sourceOf({ upload_id: upload }), {
    _tag: "Upload",
    id: UploadId.parse(upload)!,
    declared: undefined
  })
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
  it(`refuses an image that ${why} before anything is decoded`, () => {
    assert.deepStrictEqual(refusalOf(image), ["InvalidImage", 1])
  })
}

it("accepts an image of the maximum length", () => {
  assert.strictEqual(sourceOf({ data: "A".repeat(400) })?._tag, "Data")
})

it("does not find an upload with a malformed id", () => {
  assert.deepStrictEqual(refusalOf({ upload_id: "upl_x" }), ["UploadNotFound", 1])
})
