import { assert, it } from "@effect/vitest"
import { gridOf, grown, placeOf, referencesMax, regionsOf } from "../src/internal/painting/layout.ts"

const counts = Array.from({ length: referencesMax }, (_, index) => index + 1)
const sizes = [[1024, 1024], [1344, 768], [768, 1344]] as const

it("gives each reference its own region without gaps", () => {
  for (const count of counts) {
    for (const [width, height] of sizes) {
      const regions = regionsOf(count, width / height)
      assert.strictEqual(regions.length, count)
      // Every quarter of a quarter of the picture belongs to exactly one of them.
      for (const x of [0.125, 0.375, 0.625, 0.875]) {
        for (const y of [0.125, 0.375, 0.625, 0.875]) {
          const owners = regions.filter(({ bottom, left, right, top }) =>
            x > left && x < right && y > top && y < bottom
          )
          assert.strictEqual(owners.length, 1, `${count} in ${width} x ${height} at ${x}, ${y}`)
        }
      }
    }
  }
})

it("gives the first of three references as much area as the others together", () => {
  for (const [width, height] of sizes) {
    const areas = regionsOf(3, width / height).map(({ bottom, left, right, top }) => (right - left) * (bottom - top))
    assert.deepStrictEqual(areas, [0.5, 0.25, 0.25])
  }
})

it("extends regions into their neighbours and never beyond the picture", () => {
  for (const count of counts) {
    for (const [width, height] of sizes) {
      const grid = gridOf(width, height)
      for (const region of regionsOf(count, width / height)) {
        const { bottom, left, right, top } = grown(region)
        assert.isTrue(left >= 0 && top >= 0 && right <= 1 && bottom <= 1)
        const { column, columns, row, rows } = placeOf(region, grid)
        assert.isTrue(column >= 0 && row >= 0 && column + columns <= grid.columns && row + rows <= grid.rows)
        assert.isAtLeast(
          columns * rows,
          grid.columns * grid.rows * (region.right - region.left) * (region.bottom - region.top)
        )
      }
    }
  }
})
