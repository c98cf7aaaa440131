/** A landscape past which one travels: near land moves faster than far land, clouds drift, water ripples. */
import { landOf, paintGround, paintWeather } from "../scenes/landscape.ts"
import { paintClearSky, paintClouds } from "../scenes/sky.ts"
import { paintRange } from "../scenes/terrain.ts"
import { paintWater } from "../scenes/water.ts"
import { makeSurface } from "../surface.ts"
import { drawLayer, makeLayer, makeOverlay, type Motion, topOf } from "./layers.ts"

/** Travels past a landscape. */
export const landscape: Motion = (plan, surface, seconds) => {
  const { noise, ranges, sky, water } = landOf(plan, surface)
  const bottom = water ? Math.round(surface.height * sky.bottom) : surface.height
  const air = makeLayer(surface, 0, seconds, (wide) => paintClearSky(plan, wide, sky))
  const clouds = makeLayer(surface, 0.012, seconds, (wide) => {
    paintClouds(plan, wide, { ...sky, sunX: sky.sunX * surface.width / wide.width }, noise)
  })
  const lands = ranges.map((range) => {
    const layer = makeLayer(surface, 0.005 + 0.055 * range.nearness ** 1.6, seconds, (wide) => paintRange(wide, range))
    return { layer, top: topOf(layer.surface) }
  })
  const overlay = makeOverlay(plan, surface, 0.42)
  if (!water) paintGround(overlay.surface, plan.palette[0])
  const land = water ? makeSurface(surface.width, surface.height) : surface
  return (time) => {
    drawLayer(land, air, time, 0, bottom)
    drawLayer(land, clouds, time, 0, bottom)
    for (const { layer, top } of lands) drawLayer(land, layer, time, top, bottom)
    if (water) {
      surface.context.drawImage(land.canvas, 0, 0)
      paintWater(plan, surface, land, sky, noise, time)
    }
    paintWeather(plan, surface, time)
    drawLayer(surface, overlay, time)
  }
}
