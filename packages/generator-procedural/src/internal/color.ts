/** Colours, mixed in OKLab so that the steps from one to another appear even. */

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** No light. */
export const black: Rgb = [0, 0, 0]
/** All light. */
export const white: Rgb = [255, 255, 255]

/** `#rrggbb`. */
export const fromHex = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** From `a` (share 0) to `b` (share 1). */
export const mix = (a: Rgb, b: Rgb, share: number): Rgb => {
  const from = toLab(a)
  const to = toLab(b)
  return fromLab([
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share
  ])
}

/** The same colour with its hue turned by so many degrees. */
export const turn = (color: Rgb, degrees: number): Rgb => {
  const [lightness, a, b] = toLab(color)
  const cos = Math.cos(degrees * Math.PI / 180)
  const sin = Math.sin(degrees * Math.PI / 180)
  return fromLab([lightness, a * cos - b * sin, a * sin + b * cos])
}

/** For the canvas. */
export const css = (color: Rgb, alpha = 1): string =>
  `rgba(${Math.round(color[0])},${Math.round(color[1])},${Math.round(color[2])},${alpha})`

/** A smooth way through several colours, looked up by share. */
export class Ramp {
  static readonly steps = 1024
  /** Three bytes per step. */
  readonly bytes = new Uint8ClampedArray(Ramp.steps * 3)

  constructor(stops: ReadonlyArray<Rgb>) {
    for (let step = 0; step < Ramp.steps; step++) {
      const place = step / (Ramp.steps - 1) * (stops.length - 1)
      const left = Math.min(stops.length - 2, Math.floor(place))
      this.bytes.set(mix(stops[left]!, stops[left + 1]!, place - left), step * 3)
    }
  }

  /** Where in `bytes` the colour of a share from 0 to 1 starts. */
  offset(share: number): number {
    return (share <= 0 ? 0 : share >= 1 ? Ramp.steps - 1 : Math.round(share * (Ramp.steps - 1))) * 3
  }

  /** The colour at a share from 0 to 1. */
  at(share: number): Rgb {
    const offset = this.offset(share)
    return [this.bytes[offset]!, this.bytes[offset + 1]!, this.bytes[offset + 2]!]
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Lab = readonly [lightness: number, a: number, b: number]

const toLinear = (value: number): number => {
  const share = value / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

const fromLinear = (value: number): number => {
  const share = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055
  return Math.max(0, Math.min(255, 255 * share))
}

const toLab = ([red, green, blue]: Rgb): Lab => {
  const r = toLinear(red)
  const g = toLinear(green)
  const b = toLinear(blue)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ]
}

const fromLab = ([lightness, a, b]: Lab): Rgb => {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  ]
}
