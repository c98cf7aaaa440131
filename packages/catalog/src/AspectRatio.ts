/** Converts sizes in pixels to the aspect ratios of a model. */
import { Option } from "effect"
import * as Model from "./Model.ts"

/** A size in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** Name of the parameter whose values are aspect ratios such as `3:2`. */
export const paramName = "aspect_ratio"

/** Parses a size such as `1536x1024`. Returns `None` for other text. */
export const parseSize = (text: string): Option.Option<Size> => pair(/^([1-9]\d{0,4})x([1-9]\d{0,4})$/, text)

/**
 * Returns the aspect ratio of the model that is nearest to the ratio of the size, on a
 * logarithmic scale: twice as wide is as far as twice as high. Of two equally near
 * ratios it returns the first. Returns `None` if the model has no aspect ratios.
 */
export const nearest = (model: Model.Model, size: Size): Option.Option<string> => {
  const values = Option.match(Model.param(model, paramName), { onNone: () => [], onSome: ({ values = [] }) => values })
  let best: { readonly value: string; readonly distance: number } | undefined
  for (const value of values) {
    const ratio = typeof value === "string" ? parse(value) : Option.none()
    if (typeof value !== "string" || Option.isNone(ratio)) continue
    const distance = Math.abs(Math.log(size.width / size.height) - Math.log(ratio.value.width / ratio.value.height))
    if (best === undefined || distance < best.distance) best = { value, distance }
  }
  return Option.map(Option.fromUndefinedOr(best), ({ value }) => value)
}

/** Parses an aspect ratio such as `3:2`. Returns `None` for other text. */
export const parse = (text: string): Option.Option<Size> => pair(/^([1-9]\d{0,4}):([1-9]\d{0,4})$/, text)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pair = (pattern: RegExp, text: string): Option.Option<Size> =>
  Option.map(
    Option.fromNullOr(pattern.exec(text)),
    ([, width, height]) => ({ width: Number(width), height: Number(height) })
  )
