/** Land under a sky: ranges of mountains, hills or dunes, perhaps a lake, and weather. */
import { Chance } from "../chance.ts"
import { black, css, mix, type Rgb, white } from "../color.ts"
import { Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { finish, makeSurface, type Scene, type Surface, vertical } from "../surface.ts"
import type { Range, Terrain } from "./range.ts"
import { paintSky, type Sky } from "./sky.ts"
import { makeRanges, paintRange } from "./terrain.ts"
import { paintWater } from "./water.ts"
import { paintRain, paintSnowfall } from "./weather.ts"

/** Paints land under a sky. */
export const landscape: Scene = (plan, surface) => {
  const { noise, ranges, sky, water } = landOf(plan, surface)
  const land = water ? makeSurface(surface.width, surface.height) : surface
  paintSky(plan, land, sky, noise)
  for (const range of ranges) paintRange(land, range)
  if (water) {
    surface.context.drawImage(land.canvas, 0, 0)
    paintWater(plan, surface, land, sky, noise)
  }
  paintWeather(plan, surface)
  if (!water) paintGround(surface, plan.palette[0])
  finish(plan, surface)
}

/** Everything of a landscape that is decided before it is painted. */
export interface Land {
  readonly noise: Noise
  readonly sky: Sky
  /** The farthest first. */
  readonly ranges: ReadonlyArray<Range>
  readonly water: boolean
}

/** Decides what a landscape consists of. */
export const landOf = (plan: Plan, surface: Surface): Land => {
  const { palette, words } = plan
  const chance = new Chance(`landscape|${plan.key}`)
  const noise = new Noise(chance)
  const terrain = terrainOf(plan)
  const water = hasWater(plan, terrain, chance)
  const snow = words.has("snow", "winter", "blizzard", "snowy", "arctic", "glacier", "ice")
  const horizon = water ? chance.between(0.58, 0.66) : 1
  const fog = words.has("fog", "mist", "misty", "foggy", "haze") ? 1 : chance.between(0.35, 0.7)
  const sky = skyOf(plan, surface, horizon, chance)
  const trees = treesOf(plan, terrain, chance)
  const ranges = makeRanges({ chance, horizon, noise, palette, sky, snow, terrain, trees, fog, water })
  return { noise, sky, ranges, water }
}

/** Paints the snow or the rain that the prompt asks for, at a time in seconds. */
export const paintWeather = (plan: Plan, surface: Surface, time = 0): void => {
  if (plan.words.has("snow", "blizzard", "snowy", "snowfall")) paintSnowfall(plan, surface, time)
  if (plan.words.has("rain", "rainy", "storm")) paintRain(plan, surface, time)
}

/** Darkens the lower edge. */
export const paintGround = (surface: Surface, color: Rgb): void => {
  const { context, height, width } = surface
  context.fillStyle = vertical(surface, height * 0.84, height, [[0, css(color, 0)], [1, css(color, 0.5)]])
  context.fillRect(0, height * 0.84, width, height * 0.16)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const terrainOf = ({ words }: Plan): Terrain =>
  words.has("dune", "dunes", "desert", "sand", "sahara")
    ? "dunes"
    : words.has("meadow", "hill", "hills", "field", "fields", "vineyard", "countryside")
    ? "hills"
    : "peaks"

const wet = ["lake", "sea", "ocean", "river", "water", "fjord", "coast", "beach", "reflection", "island", "lagoon"]
const dry = ["desert", "dune", "dunes", "canyon", "mars", "forest", "meadow", "valley", "hills", "hill"]

const hasWater = ({ words }: Plan, terrain: Terrain, chance: Chance): boolean => {
  const byChance = chance.happens(0.35)
  return words.has(...wet) || (terrain === "peaks" && byChance && !words.has(...dry))
}

const treesOf = ({ words }: Plan, terrain: Terrain, chance: Chance): number => {
  const some = chance.between(0.15, 0.6)
  if (words.has("forest", "pine", "pines", "woods", "trees", "jungle")) return 1
  return terrain === "dunes" || words.has("mars", "lava", "ice", "canyon", "volcano") ? 0 : some
}

const skyOf = ({ dark, palette }: Plan, { aspect }: Surface, horizon: number, chance: Chance): Sky => {
  const [c0, c1, c2, c3, c4, c5] = palette
  const stops: readonly [Rgb, Rgb, Rgb] = dark
    ? [mix(c0, black, 0.25), mix(c0, c1, 0.85), mix(c2, c3, 0.35)]
    : [mix(c1, c2, 0.6), mix(c2, c3, 0.6), mix(c4, c5, 0.3)]
  const left = chance.happens(0.5)
  const inset = aspect < 1 ? chance.between(0.3, 0.4) : chance.between(0.24, 0.38)
  return {
    stops,
    sunX: left ? inset : 1 - inset,
    sunY: chance.between(0.24, 0.37) * (horizon < 1 ? 0.85 : 1),
    sunRadius: chance.between(34, 60),
    sunColor: dark ? mix(c5, white, 0.5) : mix(c5, [255, 248, 230], 0.5),
    bottom: horizon < 1 ? horizon : 0.72,
    clouds: chance.between(0.5, 1)
  }
}
