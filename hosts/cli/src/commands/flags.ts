/** Flags that several commands have. */
import { type Option, Record, Schema } from "effect"
import { Flag } from "effect/cli"

/** The values that a number can have, and the one without the flag. */
export interface Range {
  readonly minimum: number
  readonly maximum: number
  readonly usual: number
}

/** A whole number in a range. */
export const intBetween = (name: string, description: string, { maximum, minimum, usual }: Range): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.withDescription(description),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum }))),
    Flag.withDefault(usual)
  )

/** An optional text. */
export const optionalText = (name: string, description: string): Flag.Flag<Option.Option<string>> =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** An optional time. */
export const optionalDate = (name: string, description: string): Flag.Flag<Option.Option<Date>> =>
  Flag.Date(name).pipe(Flag.withDescription(description), Flag.optional)

/** Returns the properties that have a value, as requests contain them. */
export const given = <Options extends Readonly<Record<string, Option.Option<unknown>>>>(
  options: Options
): { readonly [Name in keyof Options]?: Option.Option.Value<Options[Name]> } =>
  // The type of a record does not relate the names to their values.
  Record.getSomes(options) as { readonly [Name in keyof Options]?: Option.Option.Value<Options[Name]> }
