import { assert, it } from "@effect/vitest"
import * as ClipSize from "../src/ClipSize.ts"

it("has even sides, the shorter one of the resolution, in the aspect ratio", () => {
  for (const aspectRatio of ClipSize.aspectRatios) {
    const [x = 0, y = 0] = aspectRatio.split(":").map(Number)
    for (const resolution of ClipSize.resolutions) {
      const { height, width } = ClipSize.of(aspectRatio, resolution)
      assert.strictEqual(width % 2 + height % 2, 0)
      assert.strictEqual(`${Math.min(width, height)}p`, resolution)
      assert.approximately(width / height, x / y, 0.003)
    }
  }
})

it("has the sizes that players call 480p, 720p and 1080p", () => {
  assert.deepStrictEqual(ClipSize.resolutions.map((resolution) => ClipSize.of("16:9", resolution)), [
    { width: 854, height: 480 },
    { width: 1280, height: 720 },
    { width: 1920, height: 1080 }
  ])
})
