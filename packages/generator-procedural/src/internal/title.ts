/** Draws a quoted text as a title, in a font that the package contains. */
import { GlobalFonts } from "@napi-rs/canvas"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { black, css, mix, white } from "./color.ts"
import type { Plan } from "./plan.ts"
import { type Surface, vertical } from "./surface.ts"

/** Draws the title over the lower part of the picture, as large as possible. */
export const paintTitle = ({ palette }: Plan, surface: Surface, text: string): void => {
  if (!canBeSet(text)) return
  registerFonts()
  const { context, height, width } = surface
  const { lines, size } = layOut(surface, text)
  const leading = size * 1.02
  const left = width * 0.07
  const first = height * 0.925 - leading * (lines.length - 1)
  context.save()
  const shadeTop = Math.max(0, first - size * 1.9)
  context.fillStyle = vertical(surface, shadeTop, height, [
    [0, css(palette[0], 0)],
    [0.55, css(mix(palette[0], black, 0.35), 0.5)],
    [1, css(mix(palette[0], black, 0.45), 0.78)]
  ])
  context.fillRect(0, shadeTop, width, height - shadeTop)
  context.font = font(size)
  context.textBaseline = "alphabetic"
  context.textAlign = "left"
  context.shadowColor = css(mix(palette[0], black, 0.3), 0.5)
  context.shadowBlur = size * 0.12
  context.fillStyle = css(mix(palette[5], white, 0.35))
  lines.forEach((line, index) => context.fillText(line, left, first + leading * index))
  context.restore()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const families = ["Kinora Title", "Kinora Title Extended"] as const
const font = (size: number) => `800 ${size}px "${families[0]}", "${families[1]}"`

let registered = false

const registerFonts = (): void => {
  if (registered) return
  registered = true
  const { resolve } = createRequire(import.meta.url)
  const file = (subset: string) =>
    readFileSync(resolve(`@fontsource-variable/fraunces/files/fraunces-${subset}-wght-normal.woff2`))
  GlobalFonts.register(file("latin"), families[0])
  GlobalFonts.register(file("latin-ext"), families[1])
}

/** The font has Latin letters only. A title in another script is omitted, since its letters would be empty boxes. */
const canBeSet = (text: string): boolean => /^[\p{Script=Latin}\p{N}\p{P}\p{Zs}\u0300-\u036f+=|~^`$€£]+$/u.test(text)

interface Lines {
  readonly lines: ReadonlyArray<string>
  readonly size: number
}

/** Breaks the title into the lines that allow the largest letters. */
const layOut = ({ context, height, width }: Surface, text: string): Lines => {
  const words = text.split(" ")
  context.save()
  context.font = font(100)
  let best: Lines = { lines: [text], size: 0 }
  for (let count = 1; count <= Math.min(4, words.length); count++) {
    const lines = breakInto(words, count)
    const widest = Math.max(...lines.map((line) => context.measureText(line).width))
    const size = Math.min(
      width * 0.86 / widest * 100,
      height * 0.46 / lines.length,
      Math.min(width, height) * 0.2
    )
    if (size > best.size * 1.05) best = { lines, size }
  }
  context.restore()
  return best
}

/** Breaks a text into at most `count` lines of similar length. */
const breakInto = (words: ReadonlyArray<string>, count: number): ReadonlyArray<string> => {
  const target = words.join(" ").length / count
  const lines: Array<string> = []
  let line = ""
  for (const word of words) {
    const longer = line === "" ? word : `${line} ${word}`
    const full = line !== "" && longer.length > target * 1.15 && lines.length < count - 1
    if (full) lines.push(line)
    line = full ? word : longer
  }
  lines.push(line)
  return lines
}
