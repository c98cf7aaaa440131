/** Conifers along the crest of a range. */
import { Chance } from "../chance.ts"
import { css, type Rgb } from "../color.ts"
import type { Surface } from "../surface.ts"
import type { Range } from "./range.ts"

/** Plants trees along `groundAt`, in groups; the nearest range keeps the view in the middle open. */
export const paintTrees = (
  surface: Surface,
  range: Range,
  color: Rgb,
  groundAt: (x: number) => number
): void => {
  const { context, unit, width } = surface
  const chance = new Chance(`trees|${range.offset}`)
  const size = (13 + 62 * range.nearness ** 2.2) * (range.water ? 0.75 : 1) * unit
  const gap = size * 0.3
  context.fillStyle = css(color)
  context.beginPath()
  for (let x = -size; x < width + size; x += gap) {
    const place = x + chance.between(-0.5, 0.5) * gap
    const height = size * chance.between(0.55, 1.35)
    const lean = chance.between(-0.03, 0.03)
    const grove = 0.5 + 0.9 * range.noise.at(place / unit * 0.004, range.offset, 3)
    const open = range.nearness === 1 ? 0.75 - 1.5 * Math.abs(place / width - range.sky.sunX) : 0
    if (chance.next() > range.trees * 1.25 * grove + 0.25 * range.trees - open * 0.9) continue
    addConifer(surface, chance, place, groundAt(place) + height * 0.12, height, lean)
  }
  context.fill()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const addConifer = (
  { context }: Surface,
  chance: Chance,
  x: number,
  ground: number,
  height: number,
  lean: number
): void => {
  const tiers = 6
  const spread = height * chance.between(0.17, 0.23)
  const tip = ground - height
  const axis = (share: number) => x + lean * height * (1 - share)
  const right: Array<readonly [number, number]> = []
  const left: Array<readonly [number, number]> = []
  for (let tier = 1; tier <= tiers; tier++) {
    const share = tier / tiers
    const y = tip + height * 0.94 * share
    const inner = spread * share * 0.42
    right.push([axis(share) + spread * share * chance.between(0.75, 1.1), y], [axis(share) + inner, y - height * 0.015])
    left.push([axis(share) - spread * share * chance.between(0.75, 1.1), y], [axis(share) - inner, y - height * 0.015])
  }
  context.moveTo(axis(0), tip)
  for (const [px, py] of right) context.lineTo(px, py)
  context.lineTo(x + height * 0.02, ground)
  context.lineTo(x - height * 0.02, ground)
  for (const [px, py] of left.toReversed()) context.lineTo(px, py)
  context.closePath()
}
