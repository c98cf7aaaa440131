import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { UploadId } from "../src/Generation.ts"
import { type ImageSource, parse } from "../src/internal/create/imageSources.ts"
import { png } from "./Pictures.ts"

const bytesMax = 300

/** The second of two images. */
const sourceOf = (image: unknown): ImageSource | undefined =>
  Result.getOrUndefined(parse([{ data: png }, image], bytesMax))?.[1]

/** Why the second of two images is refused, and its place. */
const refusalOf = (image: unknown) =>
  Result.match(parse([{ data: png }, image], bytesMax), {
    onSuccess: () => [],
    onFailure: (refusal) => [refusal._tag, "index" in refusal ? refusal.index : undefined]
  })

const upload = "upl_01jd0000000000000000000000"

it("images are named by their data or by an upload, with their type if the client likes (D18)", () => {
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
  "is no object": png,
  "is null": null,
  "has neither data nor upload": {},
  "has both": { data: png, upload_id: upload },
  "has a property that images do not have": { data: png, url: "https://example.com/a.png" },
  "has data that is no text": { data: 4 },
  "has a type that is no text": { data: png, mime: 4 },
  "has an upload that is no text": { upload_id: 4 },
  "is empty": { data: "" },
  "has a length that base64 never has": { data: png.slice(0, -1) },
  "has letters that base64 does not have": { data: `${png.slice(0, -4)}-_==` },
  "has line breaks": { data: `${png.slice(0, 40)}\r\n\r\n${png.slice(40)}` },
  "has padding in the middle": { data: `AA==${png}` },
  "is a data URL in another encoding": { data: "data:image/png,%89PNG" },
  "is a data URL without data": { data: "data:image/png;base64" },
  "is a data URL of a type that is not declared": { data: `data:image/png;base64,${png}`, mime: "image/jpeg" },
  "is longer than it may be": { data: "A".repeat(404) }
}

for (const [why, image] of Object.entries(refused)) {
  it(`an image that ${why} is refused before anything is decoded (D18)`, () => {
    assert.deepStrictEqual(refusalOf(image), ["InvalidImage", 1])
  })
}

it("an image as long as it may be is taken", () => {
  assert.strictEqual(sourceOf({ data: "A".repeat(400) })?._tag, "Data")
})

it("an upload whose id is none is not found, like one that never was (D2)", () => {
  assert.deepStrictEqual(refusalOf({ upload_id: "upl_x" }), ["UploadNotFound", 1])
})
