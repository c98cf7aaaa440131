import { assert, describe, it } from "@effect/vitest"
import { planOf } from "../src/internal/plan.ts"
import * as PictureSize from "../src/PictureSize.ts"
import { clips, stills } from "./gallery/prompts.ts"

const scenes = ["bloom", "city", "cosmos", "flow", "geometry", "landscape"]

const scenesOf = (prompts: ReadonlyArray<{ readonly prompt: string; readonly seed: number }>) =>
  [...new Set(prompts.map(({ prompt, seed }) => planOf(prompt, `seed ${seed}`).scene))].toSorted()

describe("the gallery", () => {
  it("shows 24 pictures of every scene and aspect ratio, some from references", () => {
    assert.lengthOf(stills, 24)
    assert.deepStrictEqual(scenesOf(stills.filter(({ references }) => references === undefined)), scenes)
    assert.sameMembers([...new Set(stills.map(({ aspectRatio }) => aspectRatio))], [...PictureSize.aspectRatios])
    assert.deepStrictEqual(stills.flatMap(({ references }) => references?.length ?? []), [1, 1, 2])
  })

  it("refers to earlier pictures only", () => {
    for (const [index, { references = [] }] of stills.entries()) {
      for (const reference of references) assert.isBelow(reference, index)
    }
    for (const { reference = 0 } of clips) assert.isBelow(reference, stills.length)
  })

  it("shows six videos, one of which starts with a picture", () => {
    assert.lengthOf(clips, 6)
    assert.lengthOf(clips.filter(({ reference }) => reference !== undefined), 1)
    assert.isAtLeast(scenesOf(clips).length, 5)
  })
})
