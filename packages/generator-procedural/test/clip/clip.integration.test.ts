import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import sharp from "sharp"
import { type Clip, drawClip, framesOf } from "../../src/internal/clip/clip.ts"
import { sha256 } from "../Requests.ts"
import { boxIn, trackIn } from "./boxes.ts"

const clip = (rest: Partial<Clip> = {}): Clip => ({
  prompt: "bauhaus pattern",
  key: "any",
  width: 128,
  height: 96,
  seconds: 2,
  references: [],
  ...rest
})

const prompts = {
  landscape: "mountains at a lake at sunset in the snow",
  cosmos: "saturn with rings",
  city: "city at night in the rain",
  bloom: "pink flowers",
  "flow of silk": "silk",
  "flow of strands": "ribbons",
  geometry: "bauhaus pattern"
} as const

it("makes an H.264 file that starts with its index, of the right size and duration", async () => {
  const reports: Array<number> = []
  const { file, poster } = await drawClip(clip({ width: 130, height: 98 }), null, (progress) => reports.push(progress))
  const top = boxIn(file).map(({ type }) => type)
  assert.deepStrictEqual(top, ["ftyp", "moov", "mdat"])
  assert.deepStrictEqual(trackIn(file), {
    codec: "avc1",
    width: 130,
    height: 98,
    seconds: 2,
    samples: 48,
    times: [0, 0]
  })
  assert.deepStrictEqual(reports, Array.from({ length: 48 }, (_, index) => (index + 1) / 48))
  assert.deepInclude(await sharp(poster).metadata(), { format: "webp", width: 130, height: 98 })
})

it("makes the same bytes for the same clip, and other bytes for another key", async () => {
  const hashOf = async (rest: Partial<Clip>) => sha256((await drawClip(clip(rest), null, () => undefined)).file)
  const first = await hashOf({})
  assert.strictEqual(await hashOf({}), first)
  assert.notStrictEqual(await hashOf({ key: "other" }), first)
})

it("states in the file and in the poster that no AI model made it", async () => {
  const { file, poster } = await drawClip(clip(), null, () => undefined)
  for (const bytes of [file, poster]) {
    assert.include(Buffer.from(bytes).toString("latin1"), "Kinora procedural generator, no AI model")
  }
})

for (const [scene, prompt] of Object.entries(prompts)) {
  it(`moves a ${scene}, in every frame within the picture`, async () => {
    for (const [width, height] of [[192, 108], [108, 192]] as const) {
      const frames = await framesOf(clip({ prompt, width, height, seconds: 10 }))
      const first = Uint8Array.from(frames(0))
      const second = Uint8Array.from(frames(0.5))
      const last = Uint8Array.from(frames(10 - 1 / 24))
      assert.isAbove(differenceOf(first, second), 0.05)
      assert.isAbove(differenceOf(first, last), 0.5)
      // No layer ends before the video does: every pixel is opaque.
      for (const frame of [first, second, last]) assert.isTrue(isOpaque(frame))
    }
  })
}

it("draws a title in the same place of every frame", async () => {
  const bare = await framesOf(clip({ width: 256, height: 256 }))
  const titled = await framesOf(clip({ width: 256, height: 256, prompt: "bauhaus pattern \"Late\"" }))
  const lower = (frame: Uint8Array) => frame.slice(256 * 4 * 190)
  for (const time of [0, 1.5]) {
    assert.isAbove(differenceOf(lower(bare(time)), lower(titled(time))), 5)
  }
})

it("starts an image_to_video with the reference, pixel by pixel, and moves on from it", async () => {
  const reference = await sharp({ create: { width: 128, height: 96, channels: 3, background: "teal" } })
    .composite([{ input: { create: { width: 40, height: 30, channels: 3, background: "gold" } }, left: 20, top: 50 }])
    .webp({ quality: 94 })
    .toBuffer()
  const frames = await framesOf(clip({ prompt: "crimson", references: [reference.toString("base64")] }))
  const expected = await sharp(reference).ensureAlpha().raw().toBuffer()
  assert.isTrue(expected.equals(frames(0)))
  const [early, late] = [Uint8Array.from(frames(1 / 24)), Uint8Array.from(frames(1.9))]
  assert.isBelow(differenceOf(expected, early), 3)
  assert.isAbove(differenceOf(expected, late), differenceOf(expected, early))
})

it("frees the memory of frames while it draws", async () => {
  // A process of its own, since other tests in this one need memory too.
  const program = fileURLToPath(new URL("../threads/memory.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  // The frames after the first ones are 119 MB.
  assert.isBelow(Number(stdout), 90_000_000)
})

/** The mean difference of two frames, from 0 to 255. */
const differenceOf = (a: Uint8Array, b: Uint8Array): number => {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += Math.abs(a[index]! - b[index]!)
  return sum / a.length
}

const isOpaque = (frame: Uint8Array): boolean => {
  for (let offset = 3; offset < frame.length; offset += 4) {
    if (frame[offset] !== 255) return false
  }
  return true
}
