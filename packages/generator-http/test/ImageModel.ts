/** A model for tests of the options of drivers that are called with named inputs. */
import type { Driver } from "@kinora/generator/Driver"
import type { ServedModel } from "@kinora/generator/ServedModel"
import type { Schema } from "effect"

type Options = Readonly<Record<string, Schema.Json>>

/** Makes a function that returns the problems of an image model as texts, given options that differ from the valid ones. */
export const makeProblems = (driver: Driver, options: Options, imagesMax: number) => (changed: Options = {}) =>
  driver.check({ ...modelOf(imagesMax), driver: { options: { ...options, ...changed } } })
    .map(({ message, path }) => `${path.join(".")} ${message}`)

const modelOf = (imagesMax: number): Omit<ServedModel, "driver"> => ({
  kind: "image",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: imagesMax,
  output_formats: ["image/png"],
  params_schema: [{ name: "aspect_ratio", type: "string", values: ["1:1", "16:9"] }]
})
