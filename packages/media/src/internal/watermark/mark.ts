/**
 * The mark of the product as pixels: a play sign in a ring, white with a dark rim, so that it
 * is visible on every background. Drawn from its shape, so it needs no font and no SVG loader.
 */

/** Width and height of `draw` in pixels. Tiles are scaled from it. */
export const drawnSide = 256

/** Draws the mark in a square, as RGBA. Takes a few milliseconds. */
export const draw = (): Buffer => {
  const pixels = Buffer.alloc(drawnSide * drawnSide * 4)
  for (let row = 0; row < drawnSide; row++) {
    for (let column = 0; column < drawnSide; column++) {
      const distance = distanceOf((column + 0.5) / drawnSide - 0.5, (row + 0.5) / drawnSide - 0.5)
      const covered = coverage(distance - rim)
      const white = covered === 0 ? 0 : coverage(distance) / covered
      pixels.fill(Math.round(255 * white), (row * drawnSide + column) * 4, (row * drawnSide + column) * 4 + 3)
      pixels[(row * drawnSide + column) * 4 + 3] = Math.round(255 * opacity * covered)
    }
  }
  return pixels
}

/**
 * Returns the side of the tiles of a picture in pixels: a quarter of its short side, so that a
 * crop of any part and a thumbnail show the mark.
 */
export const tileSide = (width: number, height: number): number => {
  const short = Math.min(width, height)
  return Math.min(short, Math.max(Math.round(short / 4), tileSideMin))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Below this the mark is no longer recognizable. */
const tileSideMin = 64

/** All lengths are parts of the side. */
const radius = 0.3
const thickness = 0.06
const rim = 0.025
/** Distance of the sides of the play sign from its centre. */
const inradius = 0.075

const opacity = 0.55

/** Returns the distance to the mark, negative inside. */
const distanceOf = (x: number, y: number): number => {
  const ring = Math.abs(Math.hypot(x, y) - radius) - thickness / 2
  const slope = x / 2 + Math.abs(y) * Math.sqrt(0.75)
  const sign = Math.max(-x, slope) - inradius
  return Math.min(ring, sign)
}

/** Returns how much of a pixel at this distance is covered, 0 to 1. */
const coverage = (distance: number): number => Math.min(1, Math.max(0, 0.5 - distance * drawnSide))
