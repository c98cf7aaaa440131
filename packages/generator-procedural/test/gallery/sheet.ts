/** Lays out pictures with captions as one sheet. */
import { createCanvas, GlobalFonts, type Image, loadImage, type SKRSContext2D } from "@napi-rs/canvas"
import { createRequire } from "node:module"

/** A picture of the sheet: one image, or several of the same size side by side. */
export interface Cell {
  readonly caption: string
  /** Width by height of all images together. */
  readonly aspect: number
  /** Image files, from left to right. */
  readonly files: ReadonlyArray<Buffer>
}

/** Width of the sheet in pixels. */
const sheetWidth = 1600
const margin = 20
const gap = 12
const lineHeight = 17

const background = "#f6f3ee"
const ink = "#2b2a33"
const family = "Gallery"
const font = `14px "${family}"`

/** Draws rows of cells. Each row fills the width, so its height follows from its cells. Returns raw pixels. */
export const drawSheet = async (rows: ReadonlyArray<ReadonlyArray<Cell>>) => {
  registerFont()
  const measure = createCanvas(1, 1).getContext("2d")
  measure.font = font
  const laidOut = rows.map((row) => {
    const height = heightOf(row)
    const cells = row.map((cell) => ({ ...cell, lines: linesOf(measure, cell.caption, cell.aspect * height) }))
    return { cells, height, captions: lineHeight * Math.max(...cells.map(({ lines }) => lines.length)) + 6 }
  })
  const height = laidOut.reduce((sum, row) => sum + row.height + row.captions + gap, 2 * margin - gap)
  const canvas = createCanvas(sheetWidth, Math.round(height))
  const context = canvas.getContext("2d")
  context.imageSmoothingQuality = "high"
  context.fillStyle = background
  context.fillRect(0, 0, canvas.width, canvas.height)
  let top = margin
  for (const row of laidOut) {
    let left = margin
    for (const { aspect, files, lines } of row.cells) {
      const width = aspect * row.height
      const images: ReadonlyArray<Image> = await Promise.all(files.map((file) => loadImage(file)))
      for (const [place, image] of images.entries()) {
        const share = width / images.length
        const between = place < images.length - 1 ? 3 : 0
        context.drawImage(image, left + place * share, top, share - between, row.height)
      }
      context.fillStyle = ink
      context.font = font
      for (const [line, text] of lines.entries()) {
        context.fillText(text, left, top + row.height + lineHeight * (line + 1), width)
      }
      left += width + gap
    }
    top += row.height + row.captions + gap
  }
  return { rgba: canvas.data(), width: canvas.width, height: canvas.height }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const heightOf = (row: ReadonlyArray<Cell>): number =>
  (sheetWidth - 2 * margin - gap * (row.length - 1)) / row.reduce((sum, { aspect }) => sum + aspect, 0)

/** Breaks a caption into lines that fit a width. */
const linesOf = (context: SKRSContext2D, caption: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of caption.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim()
    if (lines.length > 0 && context.measureText(longer).width <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** The font of titles, since other fonts depend on the machine. */
const registerFont = (): void => {
  const { resolve } = createRequire(import.meta.url)
  GlobalFonts.registerFromPath(resolve("@fontsource-variable/fraunces/files/fraunces-latin-wght-normal.woff2"), family)
}
