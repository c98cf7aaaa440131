/** A city one travels past: rows of towers, windows that go on and off, cars, and the moving mirror of it all. */
import { Chance } from "../chance.ts"
import { css, mix } from "../color.ts"
import { Noise } from "../noise.ts"
import {
  layers,
  paintClearSky,
  paintHaze,
  paintLayer,
  paintMirror,
  paintQuay,
  paintShower,
  siteOf
} from "../scenes/city.ts"
import { type Block, windowOf } from "../scenes/towers.ts"
import { makeSurface, type Surface, tau } from "../surface.ts"
import { drawLayer, type Layer, makeLayer, makeOverlay, type Motion, topOf } from "./layers.ts"

/** Travels past a city. */
export const city: Motion = (plan, surface, seconds) => {
  const chance = new Chance(`city|${plan.key}`)
  const noise = new Noise(chance)
  const { ground, moon } = siteOf(surface, chance)
  const sky = makeLayer(surface, 0, seconds, (wide) => paintClearSky(plan, wide, ground, moon))
  const haze = makeLayer(surface, 0.012, seconds, (wide) => paintHaze(plan, wide, noise, ground))
  const rows = Array.from({ length: layers }, (_, index) => {
    const nearness = index / (layers - 1)
    let windows: ReadonlyArray<Window> = []
    const layer = makeLayer(surface, 0.004 + 0.03 * nearness ** 1.4, seconds, (wide) => {
      const blocks = paintLayer(plan, wide, chance, nearness, ground, moon.x)
      windows = windowsOf(blocks, new Chance(`windows|${index}|${plan.key}`), ground)
    })
    return { layer, windows, top: topOf(layer.surface), color: css(mix(plan.palette[4], [255, 220, 150], 0.6), 0.9) }
  })
  const overlay = makeOverlay(plan, surface, 0.5)
  const above = makeSurface(surface.width, surface.height)
  return (time) => {
    for (const layer of [sky, haze]) drawLayer(above, layer, time)
    for (const { color, layer, top, windows } of rows) {
      drawLayer(above, layer, time, top)
      paintWindows(above, layer, windows, color, time)
    }
    surface.context.drawImage(above.canvas, 0, 0)
    paintMirror(plan, surface, above, noise, ground, time)
    paintQuay(plan, surface, new Chance(`quay|${plan.key}`), ground, time)
    paintShower(plan, surface, time)
    drawLayer(surface, overlay, time)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A window whose light goes on and off, in pixels of its layer. */
interface Window {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Seconds. */
  readonly period: number
  readonly phase: number
}

/** A few of the dark windows. */
const windowsOf = (blocks: ReadonlyArray<Block>, chance: Chance, ground: number): ReadonlyArray<Window> =>
  blocks.flatMap((block) =>
    block.windows.flatMap((light, index) => {
      if (light > 0 || index < block.columns * 2 || !chance.happens(0.045)) return []
      const place = windowOf(block, ground - block.height, Math.floor(index / block.columns), index % block.columns)
      return [{ ...place, period: chance.between(3, 9), phase: chance.between(0, tau) }]
    })
  )

const paintWindows = (
  { context }: Surface,
  { speed, surface: wide }: Layer,
  windows: ReadonlyArray<Window>,
  color: string,
  time: number
): void => {
  const moved = Math.min(wide.width, Math.round(speed * time))
  context.fillStyle = color
  for (const { height, period, phase, width, x, y } of windows) {
    if (Math.sin(time * tau / period + phase) > 0.35) context.fillRect(x - moved, y, width, height)
  }
}
