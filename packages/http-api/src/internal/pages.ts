/** Lists that are read page by page. */
import { Schema } from "effect"
import { PageSize } from "../Scalar.ts"
import { Cursor } from "./cursor.ts"
import { list, nullable, object, optionalParameter } from "./fields.ts"

/** A page of a list under its name in the OpenAPI document. `items` names them and their order, such as "accounts, newest first". */
export const page = <Item extends Schema.Top>(identifier: string, item: Item, items: string) =>
  object(identifier, `A page of ${items}.`, {
    data: list(item, "The items of the page."),
    next_cursor: nullable(Schema.String, "The `cursor` of the next page; `null` on the last page.")
  })

/** The query of a page: its size, and where it begins. */
export const pageQuery = { limit: Schema.optionalKey(PageSize), cursor: Schema.optionalKey(Cursor) }

/** `pageQuery` of a list whose cursors are ids, which its handler parses. */
export const pageQueryById = { ...pageQuery, cursor: optionalParameter("`next_cursor` of the previous page.") }
