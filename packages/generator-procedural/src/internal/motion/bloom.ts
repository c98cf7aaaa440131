/** Flowers in a light wind, with petals that fall. */
import { Chance } from "../chance.ts"
import { Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { arrange, paintBackdrop, paintBlurred, paintBokeh, paintPetals } from "../scenes/bloom.ts"
import { type Flower, paintFlower, paintStem } from "../scenes/flower.ts"
import { makeSurface, type Surface, tau } from "../surface.ts"
import { drawLayer, makeLayer, makeOverlay, type Motion } from "./layers.ts"

/** Moves flowers in a light wind. */
export const bloom: Motion = (plan, surface, seconds) => {
  const chance = new Chance(`bloom|${plan.key}`)
  const noise = new Noise(chance)
  const backdrop = makeLayer(surface, 0, seconds, (wide) => paintBackdrop(plan, wide, chance, noise))
  const flowers = arrange(plan, surface, chance)
  const far = makeLayer(surface, 0.008, seconds, (wide) => {
    paintBlurred(plan, wide, flowers.filter(({ nearness }) => nearness < 0.45))
  })
  const bokeh = makeLayer(surface, 0.02, seconds, (wide) => paintBokeh(plan, wide, chance))
  const near = flowers.filter(({ nearness }) => nearness >= 0.45).map((flower) => swaying(plan, surface, flower))
  const overlay = makeOverlay(plan, surface, 0.42)
  return (time) => {
    for (const layer of [backdrop, far, bokeh]) drawLayer(surface, layer, time)
    for (const draw of near) draw(time)
    paintPetals(plan, surface, new Chance(`petals|${plan.key}`), time)
    drawLayer(surface, overlay, time)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Paints a flower with its stem once, and returns a function that draws it where the wind moved it. */
const swaying = (plan: Plan, surface: Surface, flower: Flower): (time: number) => void => {
  const reach = Math.ceil(flower.size * 2)
  const left = Math.floor(flower.x) - reach
  const top = Math.floor(flower.y - flower.size * 1.2)
  // The stem goes beyond the lower edge, so that no end of it shows when the flower rises.
  const spare = Math.ceil(20 * surface.unit)
  const own = { ...makeSurface(2 * reach, surface.height - top + spare), unit: surface.unit, height: surface.height }
  own.context.translate(-left, -top)
  paintStem(plan, own, flower)
  paintFlower(plan, own, flower)
  const width = (6 + 9 * flower.nearness) * surface.unit
  return (time) => {
    const x = width * Math.sin(time * tau / 4.2 + flower.turn)
    const y = 0.35 * width * Math.sin(time * tau / 3.1 + 2 * flower.turn)
    surface.context.drawImage(own.canvas, left + Math.round(x), top + Math.round(y))
  }
}
