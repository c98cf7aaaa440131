/** Cursors of lists. */
import { Schema } from "effect"

/** The last item of a page. Databases cannot compare text that contains U+0000. */
export const Cursor = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0"), { expected: "the next_cursor of an earlier call" }),
  Schema.isMaxLength(128)
)
