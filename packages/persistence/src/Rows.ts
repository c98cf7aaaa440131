/**
 * Sets of rows in SQL statements, and the rows that a statement returns.
 *
 * A set is passed as one array parameter per column, so the text of a statement is
 * the same for one row as for a thousand. The types, nulls and 64-bit numbers of the
 * arrays are encoded here.
 *
 *     sql`INSERT INTO ledger_entry ${Rows.unnest(entries, {
 *       transaction_id: ["uuid", (entry) => entry.transaction],
 *       ...Rows.fields({ amount: "int8", reverses: "uuid?" })
 *     })}`
 *
 * Declare the columns of a statement that runs often as a constant: the text that depends on
 * them only is computed once per object.
 */
import { Array as Arr, DateTime, Effect, identity, Option, Schema } from "effect"
import { type SqlClient, type SqlError, Statement } from "effect/sql"
import * as Pipelining from "./Pipelining.ts"

export { bytea, int8, timestamptz } from "./internal/rowCodecs.ts"

/** The values of each column type, as a row holds them. */
interface ColumnValues {
  readonly boolean: boolean
  readonly bytea: Uint8Array
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly float8: number
  readonly int4: number
  readonly int8: number | bigint
  readonly json: Schema.Json
  readonly jsonb: Schema.Json
  readonly text: string
  readonly timestamptz: DateTime.DateTime
  readonly uuid: string
}

/** A type of column whose values are never null. */
export type ColumnType = keyof ColumnValues

/** The values of each type of column, which are nullable after a `?`. */
type FieldValues = ColumnValues & { readonly [Type in ColumnType as `${Type}?`]: ColumnValues[Type] | null | undefined }

/** A type of column, and how to read its value from a row. A `?` after the type allows `null` and `undefined`. */
export type Column<Row> = {
  readonly [Type in ColumnType]:
    | readonly [type: Type, value: (row: Row) => ColumnValues[Type]]
    | readonly [type: `${Type}?`, value: (row: Row) => ColumnValues[Type] | null | undefined]
}[ColumnType]

/** The columns of a set by their names in the statement, in order. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>

/** The columns that `fields` returns. */
export type Fields<Types extends Readonly<Record<string, keyof FieldValues>>> = {
  readonly [Name in keyof Types]: readonly [
    type: Types[Name],
    value: (row: { readonly [Field in Name]: FieldValues[Types[Name]] }) => FieldValues[Types[Name]]
  ]
}

/**
 * Returns columns that hold the field of the same name, from their types:
 * `{ ...Rows.fields({ account: "text", amount: "int8" }), entry_id: ["uuid", (entry) => entry.id] }`.
 */
export const fields = <const Types extends Readonly<Record<string, keyof FieldValues>>>(types: Types): Fields<Types> =>
  // Entries lose the relation between a name and its type, which `Fields` states.
  Object.fromEntries<unknown>(
    Object.entries(types).map(([name, type]) => [name, [type, (row: Readonly<Record<string, unknown>>) => row[name]]])
  ) as Fields<Types>

/**
 * Returns the columns and rows of an `INSERT INTO table`:
 * `("a", "b") SELECT "a", "b" FROM unnest($1::uuid[], $2::int8[]) AS "new" ("a", "b")`.
 */
export const unnest = <Row>(rows: ReadonlyArray<Row>, columns: Columns<Row>): Statement.Fragment => {
  const { encodings, names, selected } = shapeOf(columns)
  return Statement.fragment([
    Statement.literal(`(${names}) SELECT ${selected} FROM `),
    ...unnested(rows, columns, encodings),
    Statement.literal(` AS "new" (${names})`)
  ])
}

/** Options for `array`. */
export interface ArrayOptions {
  /**
   * Hides the length of the arrays from the planner. Default `false`.
   *
   * Postgres plans a statement again for each execution as long as the plan for the actual
   * lengths seems cheaper than the one for the average length. For a large statement this
   * takes longer than the execution. With arrays of unknown length the plan of the first
   * executions stays. Use it if an index finds the rows of each element, whatever the length.
   */
  readonly unknownLength?: boolean | undefined
}

/** Options for `table`. */
export interface TableOptions extends ArrayOptions {
  /** Name of an additional `int8` column that counts the rows from 1, in their order. */
  readonly place?: string | undefined
}

/**
 * Returns a table of the rows for `FROM`, `JOIN` and `USING`:
 * `unnest($1::uuid[], $2::int8[]) AS "alias" ("a", "b")`.
 */
export const table = <Row>(
  alias: string,
  rows: ReadonlyArray<Row>,
  columns: Columns<Row>,
  { place, unknownLength }: TableOptions = {}
): Statement.Fragment => {
  const { encodings, hasJson, names, selected } = shapeOf(columns)
  const ordinality = place === undefined ? "" : " WITH ORDINALITY"
  const placed = place === undefined ? "" : `, "${place}"`
  if (!hasJson) {
    return Statement.fragment([
      ...unnested(rows, columns, encodings, unknownLength),
      Statement.literal(`${ordinality} AS "${alias}" (${names}${placed})`)
    ])
  }
  return Statement.fragment([
    Statement.literal(`(SELECT ${selected}${placed} FROM `),
    ...unnested(rows, columns, encodings, unknownLength),
    Statement.literal(`${ordinality} AS "raw" (${names}${placed})) AS "${alias}"`)
  ])
}

/** Returns an array parameter such as `$1::uuid[]`, for `= ANY(...)`, `<> ALL(...)` and `IN (SELECT unnest(...))`. */
export const array = <Type extends ColumnType>(
  type: Type,
  values: ReadonlyArray<ColumnValues[Type]>,
  { unknownLength }: ArrayOptions = {}
): Statement.Fragment => {
  const encoding = encodingOf(type)
  return Statement.fragment(arrayOf(values.map(encoding.encode), encoding, unknownLength))
}

/**
 * Decodes the rows that a statement returns, all of them with one schema. A row that
 * does not decode fails with `SchemaError`, which `StorageError.mapSql` turns into a
 * defect, since it means that the table is corrupt.
 */
export const decodeAll = <Row extends Schema.Codec<unknown, unknown>>(
  row: Row
): <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
) => Effect.Effect<ReadonlyArray<Row["Type"]>, E | Schema.SchemaError, R> => {
  const decode = Schema.decodeUnknownEffect(Schema.Array<Row>(row))
  return (statement) => Effect.flatMap(statement, decode)
}

/** Converts the first of the decoded rows of a statement, if there is one. */
export const first =
  <Row, A>(convert: (row: Row) => A) =>
  <E, R>(rows: Effect.Effect<ReadonlyArray<Row>, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.map(rows, (rows) => Option.map(Arr.head(rows), convert))

/**
 * Locks the row with an id until the transaction ends, then runs `read`, in a statement of its own, which sees the commits
 * that the lock waited for. A transaction that pipelines sends both together. The name of the table is a part of the statement:
 * pass constants only.
 */
export const lockById = <A, E, R>(
  sql: SqlClient.SqlClient,
  table: string,
  id: string,
  read: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.map(
    Pipelining.both(sql`SELECT FROM ${sql.literal(table)} WHERE id = ${id} FOR UPDATE`, read),
    ([, found]) => found
  )

/** Decodes the number that a statement such as `SELECT count(*)::int4 AS count FROM ledger_entry` returns. */
export const decodeCount = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<number, E | Schema.SchemaError, R> =>
  // An aggregate without GROUP BY returns exactly one row.
  Effect.map(decodeCounts(statement), ([row]) => row!.count)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeCounts = decodeAll(Schema.Struct({ count: Schema.Int }))

/** The parts of a statement that depend on its columns, but not on their rows. */
interface Shape {
  /** The names of the columns. Quoted, so that none is a keyword or folded to lower case. */
  readonly names: string
  /** The selected columns. Arrays of JSON are passed as text, since an array parameter of objects has no type. */
  readonly selected: string
  readonly hasJson: boolean
  readonly encodings: ReadonlyArray<Encoding>
}

/** Shapes by their columns. */
const shapes = new WeakMap<object, Shape>()

const shapeOf = (columns: Readonly<Record<string, readonly [type: string, value: unknown]>>): Shape => {
  const known = shapes.get(columns)
  if (known !== undefined) return known
  const entries = Object.entries(columns)
  const shape: Shape = {
    names: entries.map(([name]) => `"${name}"`).join(", "),
    selected: entries
      .map(([name, [type]]) => isJson(type) ? `"${name}"::${plain(type)} AS "${name}"` : `"${name}"`)
      .join(", "),
    hasJson: entries.some(([, [type]]) => isJson(type)),
    encodings: entries.map(([, [type]]) => encodingOf(type))
  }
  shapes.set(columns, shape)
  return shape
}

const unnested = <Row>(
  rows: ReadonlyArray<Row>,
  columns: Columns<Row>,
  encodings: ReadonlyArray<Encoding>,
  unknownLength?: boolean
): ReadonlyArray<Statement.Segment> => [
  Statement.literal("unnest("),
  ...Object.values(columns).flatMap(([, value], index) => {
    const encoding = encodings[index]!
    const array = arrayOf(rows.map((row) => encoding.encode(value(row))), encoding, unknownLength)
    return index === 0 ? array : [comma, ...array]
  }),
  closing
]

const comma = Statement.literal(", ")
const closing = Statement.literal(")")

/** Returns an array of encoded values. */
const arrayOf = (
  values: ReadonlyArray<unknown>,
  { cast }: Encoding,
  unknownLength = false
): ReadonlyArray<Statement.Segment> => {
  const array = [Statement.parameter(parameterOf(values)), cast]
  // With the second cast it is one value. `= ANY((SELECT ...))` would compare with the rows of the subquery.
  return unknownLength ? [Statement.literal("(SELECT "), ...array, closing, cast] : array
}

/** The driver infers an array's type from its values, so an array of nulls is sent as text. */
const parameterOf = (values: ReadonlyArray<unknown>): unknown =>
  values.length > 0 && values.every((value) => value === null) ? `{${values.map(() => "NULL").join(",")}}` : values

/** How the values of a type become an array parameter. */
interface Encoding {
  readonly encode: (value: unknown) => unknown
  /** The cast of the parameter. */
  readonly cast: Statement.Segment
}

/** Encodings by type, since a statement encodes each of its columns again. */
const encodings = new Map<string, Encoding>()

const encodingOf = (type: string): Encoding => {
  const known = encodings.get(type)
  if (known !== undefined) return known
  const encode = encoderOf(plain(type))
  const encoding = {
    // The null of a column that is not nullable is a JSON null.
    encode: isNullable(type)
      ? (value: unknown) => value === undefined || value === null ? null : encode(value)
      : (value: unknown) => value === undefined ? null : encode(value),
    cast: Statement.literal(`::${isJson(type) ? "text" : plain(type)}[]`)
  }
  encodings.set(type, encoding)
  return encoding
}

const encoderOf = (type: string): (value: unknown) => unknown => {
  switch (type) {
    case "json":
    case "jsonb":
      return (value) => JSON.stringify(value)
    case "int8":
      // An array of small and large numbers has to be of one type.
      return (value) => typeof value === "number" ? BigInt(value) : value
    case "float8":
      // The driver infers other types for whole numbers than for fractions.
      return (value) => typeof value === "number" ? String(value) : value
    case "timestamptz":
      return (value) => DateTime.isDateTime(value) ? DateTime.toDateUtc(value) : value
    default:
      return identity
  }
}

const isJson = (type: string): boolean => plain(type).startsWith("json")

const isNullable = (type: string): boolean => type.endsWith("?")

const plain = (type: string): string => isNullable(type) ? type.slice(0, -1) : type
