/** A poster whose tiles turn, a few at a time. */
import { Chance } from "../chance.ts"
import { smoothstep } from "../noise.ts"
import { paintTile, tilesOf } from "../scenes/geometry.ts"
import { makeSurface } from "../surface.ts"
import { drawLayer, makeOverlay, type Motion } from "./layers.ts"

/** Turns the tiles of a poster. */
export const geometry: Motion = (plan, surface) => {
  const poster = makeSurface(surface.width, surface.height)
  const chance = new Chance(`geometry|${plan.key}`)
  const tiles = tilesOf(plan, surface, chance)
  const turning = tiles.map((tile) => ({ tile, shown: Number.NaN, turns: turnsOf(chance) }))
  const overlay = makeOverlay(plan, surface, 0.16)
  return (time) => {
    for (const each of turning) {
      const angle = angleAt(each.turns, time)
      if (angle === each.shown) continue
      each.shown = angle
      paintTile(poster, each.tile, angle)
    }
    surface.context.drawImage(poster.canvas, 0, 0)
    drawLayer(surface, overlay, time)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Turns {
  /** Seconds until the first turn. */
  readonly start: number
  /** Seconds from one turn to the next. */
  readonly period: number
  readonly direction: number
}

const turnsOf = (chance: Chance): Turns => ({
  start: chance.between(0.1, 5),
  period: chance.between(2.5, 6),
  direction: chance.happens(0.5) ? 1 : -1
})

/** Seconds of a quarter turn. */
const turnTime = 0.8

/** The angle in radians: a quarter turn, a rest, the next quarter turn. */
const angleAt = ({ direction, period, start }: Turns, time: number): number => {
  const since = time - start
  if (since < 0) return 0
  const done = Math.floor(since / period)
  return direction * Math.PI / 2 * (done + smoothstep(0, turnTime, since - done * period))
}
