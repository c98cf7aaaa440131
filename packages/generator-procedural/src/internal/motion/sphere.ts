/** A planet that turns: its texture is computed once, and looked up for each pixel of each frame. */
import { createCanvas } from "@napi-rs/canvas"
import { mix } from "../color.ts"
import { clamp, type Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { type Planet, textureAt } from "../scenes/cosmos.ts"
import { type Surface, tau } from "../surface.ts"

/** Returns a function that draws the planet, turned by an angle in radians. */
export const makeSphere = (plan: Plan, noise: Noise, planet: Planet) => {
  const side = Math.ceil(planet.radius * 2) + 4
  const canvas = createCanvas(side, side)
  const context = canvas.getContext("2d")
  const image = context.createImageData(side, side)
  const texture = textureOf(noise, planet.gas)
  const points = pointsOf(plan, planet, side)
  const { bytes } = plan.ramp
  return (surface: Surface, angle: number): void => {
    const turned = angle / tau * columns
    for (const { column, offset, row, lit, red, green, blue } of points) {
      const light = lookUp(texture, column + turned, row)
      const color = plan.ramp.offset(clamp(0.32 + light * 0.78 + 0.22 * lit))
      const strength = 0.015 + lit * 1.08
      image.data[offset] = bytes[color]! * strength + red
      image.data[offset + 1] = bytes[color + 1]! * strength + green
      image.data[offset + 2] = bytes[color + 2]! * strength + blue
    }
    context.putImageData(image, 0, 0)
    surface.context.drawImage(canvas, Math.round(planet.x - side / 2), Math.round(planet.y - side / 2))
  }

  /** The points of the visible half. Their alpha is written here, once. */
  function pointsOf({ palette }: Plan, { light, radius, tilt }: Planet, side: number): ReadonlyArray<Point> {
    const air = mix(palette[4], palette[5], 0.3)
    const points: Array<Point> = []
    for (let index = 0; index < side * side; index++) {
      const x = (index % side + 0.5 - side / 2) / radius
      const y = (Math.floor(index / side) + 0.5 - side / 2) / radius
      const distance = Math.hypot(x, y)
      if (distance > 1 + 1 / radius) continue
      const z = Math.sqrt(Math.max(0, 1 - distance * distance))
      const facing = x * light[0] + y * light[1] + z * light[2]
      const rim = (1 - z) ** 3 * clamp(facing + 0.4) * 0.95
      const north = clamp(y * Math.cos(tilt) - x * Math.sin(tilt), -1, 1)
      image.data[index * 4 + 3] = 255 * clamp((1 - distance) * radius + 0.5)
      points.push({
        offset: index * 4,
        column: columns + Math.atan2(x * Math.cos(tilt) + y * Math.sin(tilt), z) / tau * columns,
        row: (Math.asin(north) / Math.PI + 0.5) * (rows - 1),
        lit: smoothstep(-0.08, 0.95, facing) ** 0.9,
        red: air[0] * rim,
        green: air[1] * rim,
        blue: air[2] * rim
      })
    }
    return points
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = 1024
const rows = 512

interface Point {
  /** In the bytes of the image. */
  readonly offset: number
  /** In the texture. */
  readonly column: number
  /** In the texture. */
  readonly row: number
  readonly lit: number
  readonly red: number
  readonly green: number
  readonly blue: number
}

/** Lightness by longitude and latitude. The first column follows on the last. */
const textureOf = (noise: Noise, gas: boolean): Float32Array => {
  const texture = new Float32Array(columns * rows)
  for (let row = 0; row < rows; row++) {
    const latitude = (row / (rows - 1) - 0.5) * Math.PI
    for (let column = 0; column < columns; column++) {
      const longitude = column / columns * tau
      const across = Math.cos(latitude)
      const east = across * Math.sin(longitude)
      texture[row * columns + column] = textureAt(noise, gas, east, Math.sin(latitude), across * Math.cos(longitude))
    }
  }
  return texture
}

/** Interpolates between the four nearest texels. */
const lookUp = (texture: Float32Array, column: number, row: number): number => {
  const left = Math.floor(column)
  const top = Math.min(rows - 2, Math.floor(row))
  const x = column - left
  const y = row - top
  const first = top * columns + (left & (columns - 1))
  const second = top * columns + ((left + 1) & (columns - 1))
  const upper = texture[first]! + (texture[second]! - texture[first]!) * x
  const lower = texture[first + columns]! + (texture[second + columns]! - texture[first + columns]!) * x
  return upper + (lower - upper) * y
}
