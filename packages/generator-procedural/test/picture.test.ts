import { assert, it } from "@effect/vitest"
import { paint } from "../src/internal/picture.ts"
import { planOf } from "../src/internal/plan.ts"

const sceneOf = (prompt: string) => planOf(prompt, "any").scene

it("selects the scene by subject words before mood words", () => {
  assert.strictEqual(sceneOf("misty mountains at sunset"), "landscape")
  assert.strictEqual(sceneOf("a city at dawn"), "city")
  assert.strictEqual(sceneOf("galaxy"), "cosmos")
  assert.strictEqual(sceneOf("roses in the rain"), "bloom")
  assert.strictEqual(sceneOf("Liquid marble!"), "flow")
  assert.strictEqual(sceneOf("Bauhaus poster"), "geometry")
})

it("gives a prompt without known words the same colours every time", () => {
  assert.deepStrictEqual(planOf("qwxz vbnm", "a").palette, planOf("QWXZ, vbnm", "a").palette)
})

it("selects the palette by the colour that the prompt names before its places", () => {
  const [red, green, blue] = planOf("the planet mars in orbit, red", "any").palette[3]
  assert.isAbove(red, 2 * green)
  assert.isAbove(red, 2 * blue)
  assert.notDeepEqual(
    planOf("saturn in a violet nebula", "any").palette,
    planOf("saturn in a teal nebula", "any").palette
  )
})

it("parses a quoted text as a title, and an apostrophe as none", () => {
  const titleOf = (prompt: string) => planOf(prompt, "any").title
  assert.strictEqual(titleOf("a poster \"Night  Market\" in blue"), "Night Market")
  assert.strictEqual(titleOf("a poster “Nuit d'été”"), "Nuit d'été")
  assert.strictEqual(titleOf("ein Plakat «Blau»"), "Blau")
  assert.strictEqual(titleOf("a sign 'Open' at night"), "Open")
  assert.isNull(titleOf("a dog's life in the dogs' house"))
  assert.isNull(titleOf("nothing \"...\" here"))
})

it("selects the scene by the words outside of quotes", () => {
  assert.strictEqual(sceneOf("a city \"Mountain Lake Forest\""), "city")
})

it("draws the title over the lower part, and does not change the upper part", () => {
  const picture = (prompt: string) =>
    paint({ prompt, key: "any", width: 512, height: 512, format: "png", references: [] })
  const bare = picture("a city at night")
  const titled = picture("a city at night \"Late\"")
  const row = 512 * 4
  assert.deepStrictEqual(titled.subarray(0, row * 256), bare.subarray(0, row * 256))
  assert.isAbove(brightIn(titled.subarray(row * 380)), brightIn(bare.subarray(row * 380)) + 5_000)
})

it("omits a title in letters that the font does not have", () => {
  const picture = (prompt: string) =>
    paint({ prompt, key: "any", width: 256, height: 256, format: "png", references: [] })
  assert.deepStrictEqual(picture("bauhaus \"夜市\""), picture("bauhaus"))
})

it("shows the same picture at every resolution", () => {
  const small = paint({ prompt: "bauhaus", key: "any", width: 256, height: 256, format: "png", references: [] })
  const large = paint({ prompt: "bauhaus", key: "any", width: 512, height: 512, format: "png", references: [] })
  let difference = 0
  for (let y = 0; y < 256; y++) {
    for (let x = 0; x < 256; x++) {
      difference += Math.abs((small[(y * 256 + x) * 4] ?? 0) - (large[(y * 2 * 512 + x * 2) * 4] ?? 0))
    }
  }
  assert.isBelow(difference / 256 / 256, 16)
})

/** How many pixels are nearly white. */
const brightIn = (pixels: Uint8Array): number => {
  let bright = 0
  for (let offset = 0; offset < pixels.length; offset += 4) {
    if (Math.min(pixels[offset] ?? 0, pixels[offset + 1] ?? 0, pixels[offset + 2] ?? 0) > 225) bright += 1
  }
  return bright
}
