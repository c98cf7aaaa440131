/** Parts of a scene that are painted once and then move by whole pixels, which is fast and compresses well. */
import type { Plan } from "../plan.ts"
import { makeSurface, paintVignette, type Surface } from "../surface.ts"
import { paintTitle } from "../title.ts"

/** Paints the frame at a time in seconds over all of a surface. */
export type Frames = (time: number) => void

/** Paints what does not move, and returns the rest as a function of time. `seconds` is the duration. */
export type Motion = (plan: Plan, surface: Surface, seconds: number) => Frames

/** A painted part of a scene that is at least as wide as the picture. */
export interface Layer {
  readonly surface: Surface
  /** Pixels that it moves to the left per second. */
  readonly speed: number
}

/** Paints a layer that is wide enough to move for so many seconds at a speed in shares of the shorter side. */
export const makeLayer = (
  { height, unit, width }: Surface,
  share: number,
  seconds: number,
  paint: (wide: Surface) => void
): Layer => {
  const speed = share * 1000 * unit
  const wide = { ...makeSurface(width + Math.ceil(speed * seconds), height), unit }
  paint(wide)
  return { surface: wide, speed }
}

/** Draws the rows of a layer from `top` to `bottom` at a time. */
export const drawLayer = (
  { context, height, width }: Surface,
  { speed, surface }: Layer,
  time: number,
  top = 0,
  bottom = height
): void => {
  const moved = Math.min(surface.width - width, Math.round(speed * time))
  const rows = bottom - top
  if (rows > 0) context.drawImage(surface.canvas, moved, top, width, rows, 0, top, width, rows)
}

/** Returns the first row of a surface that is not transparent, or its height if all are. */
export const topOf = ({ context, height, width }: Surface): number => {
  const { data } = context.getImageData(0, 0, width, height)
  for (let offset = 3; offset < data.length; offset += 4) {
    if (data[offset] !== 0) return Math.floor(offset / 4 / width)
  }
  return height
}

/** Paints the corners' darkness and the title of a plan once. */
export const makeOverlay = (plan: Plan, { height, width }: Surface, vignette: number): Layer => {
  const surface = makeSurface(width, height)
  paintVignette(plan, surface, vignette)
  if (plan.title !== null) paintTitle(plan, surface, plan.title)
  return { surface, speed: 0 }
}
