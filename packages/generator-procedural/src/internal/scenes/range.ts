/** A range of land in a picture. */
import type { Chance } from "../chance.ts"
import type { Noise } from "../noise.ts"
import type { Palette } from "../palette.ts"
import type { Sky } from "./sky.ts"

/** The shape of the land. */
export type Terrain = "peaks" | "hills" | "dunes"

/** Settings that all ranges of a picture share. */
export interface RangesOptions {
  readonly chance: Chance
  readonly noise: Noise
  readonly palette: Palette
  readonly sky: Sky
  readonly terrain: Terrain
  /** Where water begins, as a share of the height; 1 without water. */
  readonly horizon: number
  readonly water: boolean
  readonly snow: boolean
  /** 0 to 1. */
  readonly trees: number
  /** 0 to 1. */
  readonly fog: number
}

/** One range. */
export interface Range extends RangesOptions {
  /** 0 for the farthest, 1 for the nearest. */
  readonly nearness: number
  /** Where its foot is, as a share of the height. */
  readonly base: number
  /** How high it rises, in shares of the shorter side. */
  readonly rise: number
  readonly frequency: number
  readonly offset: number
  /** Where along the width the highest summit stands. */
  readonly summit: number
}
