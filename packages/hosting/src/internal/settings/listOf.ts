/** Schema of settings that are lists. */
import { Schema, SchemaGetter } from "effect"

/** Values separated by commas. */
export const listOf = (item: Schema.Codec<string>) =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.Array(item), {
      decode: SchemaGetter.transform((text: string) => text.split(",").map((part) => part.trim())),
      encode: SchemaGetter.transform((parts: ReadonlyArray<string>) => parts.join(","))
    })
  )
