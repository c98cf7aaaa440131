/** Flags and output of lists with pages. */
import { Schema } from "effect"
import { Flag } from "effect/cli"

/** The size of a page of things. */
export const limit = (things: string): Flag.Flag<number> =>
  Flag.Int("limit").pipe(
    Flag.withDescription(`Maximum number of ${things}`),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
    Flag.withDefault(20)
  )

/** The cursor of a page. */
export const cursor = Flag.String("cursor").pipe(Flag.withDescription("next_cursor of the page before"), Flag.optional)

/** Renders the table of a page, and how to get the next one. */
export const paged = (table: string, next: string | null): string =>
  next === null ? table : `${table}\nMore: --cursor ${next}`
