/** Lists that are read page by page. */
import { Schema } from "effect"
import { PageSize } from "../Scalar.ts"
import { Cursor } from "./cursor.ts"
import { list, nullable, object, optionalParameter } from "./fields.ts"

/** A page of a list under its name in the OpenAPI document. `data` describes the items and their order. */
export const page = <Item extends Schema.Top>(identifier: string, description: string, item: Item, data: string) =>
  object(identifier, description, {
    data: list(item, data),
    next_cursor: nullable(Schema.String, "The `cursor` of the next page; `null` on the last page.")
  })

/** The query of a page: its size, and where it begins. */
export const pageQuery = { limit: Schema.optionalKey(PageSize), cursor: Schema.optionalKey(Cursor) }

/** `pageQuery` of a list whose cursors are ids, which its handler parses. */
export const pageQueryById = { ...pageQuery, cursor: optionalParameter("`next_cursor` of the previous page.") }
