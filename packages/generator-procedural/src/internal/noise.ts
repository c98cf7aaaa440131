/** Gradient noise in three dimensions and the sums of it that clouds and mountains are made of. */
import type { Chance } from "./chance.ts"

/** `value` kept between `low` and `high`. */
export const clamp = (value: number, low = 0, high = 1): number => value < low ? low : value > high ? high : value

/** 0 below `low`, 1 above `high`, and a smooth step between. */
export const smoothstep = (low: number, high: number, value: number): number => {
  const share = clamp((value - low) / (high - low))
  return share * share * (3 - 2 * share)
}

/** One field of noise. */
export class Noise {
  readonly #order = new Uint8Array(512)
  readonly #x = new Float64Array(256)
  readonly #y = new Float64Array(256)
  readonly #z = new Float64Array(256)

  constructor(chance: Chance) {
    const order = chance.shuffled(Array.from({ length: 256 }, (_, index) => index))
    for (let index = 0; index < 512; index++) this.#order[index] = order[index & 255]!
    for (let index = 0; index < 256; index++) {
      const z = chance.between(-1, 1)
      const angle = chance.between(0, Math.PI * 2)
      const radius = Math.sqrt(1 - z * z)
      this.#x[index] = radius * Math.cos(angle)
      this.#y[index] = radius * Math.sin(angle)
      this.#z[index] = z
    }
  }

  /** Smooth noise, about -0.9 to 0.9, 0 on average. */
  at(x: number, y: number, z: number): number {
    const floorX = Math.floor(x)
    const floorY = Math.floor(y)
    const floorZ = Math.floor(z)
    const x0 = x - floorX
    const y0 = y - floorY
    const z0 = z - floorZ
    const x1 = x0 - 1
    const y1 = y0 - 1
    const z1 = z0 - 1
    const order = this.#order
    const cellX = floorX & 255
    const cellY = floorY & 255
    const cellZ = floorZ & 255
    const left = order[cellX]! + cellY
    const right = order[cellX + 1]! + cellY
    const leftTop = order[left]! + cellZ
    const leftBottom = order[left + 1]! + cellZ
    const rightTop = order[right]! + cellZ
    const rightBottom = order[right + 1]! + cellZ
    const u = fade(x0)
    const v = fade(y0)
    const top = blend(this.#slope(leftTop, x0, y0, z0), this.#slope(rightTop, x1, y0, z0), u)
    const bottom = blend(this.#slope(leftBottom, x0, y1, z0), this.#slope(rightBottom, x1, y1, z0), u)
    const topFar = blend(this.#slope(leftTop + 1, x0, y0, z1), this.#slope(rightTop + 1, x1, y0, z1), u)
    const bottomFar = blend(this.#slope(leftBottom + 1, x0, y1, z1), this.#slope(rightBottom + 1, x1, y1, z1), u)
    return blend(blend(top, bottom, v), blend(topFar, bottomFar, v), fade(z0)) * 1.5
  }

  /** Octaves of noise, each twice as fine and `gain` times as strong as the one before. */
  octaves(x: number, y: number, z: number, count: number, gain = 0.5): number {
    let sum = 0
    let strength = 1
    let total = 0
    for (let octave = 0; octave < count; octave++) {
      sum += strength * this.at(x, y, z)
      total += strength
      strength *= gain
      x = x * 2.02 + 17.3
      y = y * 2.02 - 9.1
      z = z * 1.3 + 3.7
    }
    return sum / total
  }

  /** Octaves folded into sharp crests, 0 to 1. */
  ridges(x: number, y: number, z: number, count: number): number {
    let sum = 0
    let strength = 1
    let total = 0
    let carried = 1
    for (let octave = 0; octave < count; octave++) {
      const crest = (1 - Math.abs(this.at(x, y, z))) ** 2
      sum += crest * strength * carried
      total += strength
      carried = 0.4 + 0.6 * crest
      strength *= 0.5
      x = x * 2.07 + 5.1
      y = y * 2.07 + 11.7
    }
    return sum / total
  }

  #slope(corner: number, x: number, y: number, z: number): number {
    const index = this.#order[corner]!
    return this.#x[index]! * x + this.#y[index]! * y + this.#z[index]! * z
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const fade = (t: number): number => t * t * t * (t * (t * 6 - 15) + 10)
const blend = (a: number, b: number, share: number): number => a + share * (b - a)
